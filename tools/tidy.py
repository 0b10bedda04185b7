#!/usr/bin/env python3
"""tidy.py BUILD: clang-tidy over what is shipped (src/), on the compile commands of BUILD.

The analyser takes seconds a file, so a file that passed is not looked at again until it, a header
it includes or the list of checks changes: the key is a hash of its preprocessed text.
STRATA_LINT=quick leaves the analyser out.
"""
import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TIDY = "clang-tidy-14"
# The analyser takes 20 times as long as everything else.
LESS = ["--checks=-clang-analyzer-*"] if os.environ.get("STRATA_LINT") == "quick" else []


def key_of(command, build, checks):
    words = shlex.split(command["command"])
    words = words[:words.index("-o")] + ["-E", "-P", command["file"]]
    words = [w for w in words if not w.startswith("-M") and not w.endswith((".d", ".o")) and w != "-c"]
    text = subprocess.run(words, cwd=build, check=True, capture_output=True).stdout
    return hashlib.sha256(checks + text).hexdigest()


def check(command, build, checks):
    passed = build / "tidy" / key_of(command, build, checks)
    if passed.exists():
        return 0, b""
    done = subprocess.run([TIDY, "--quiet", "-p", ".", *LESS, command["file"]], cwd=build,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode == 0:
        passed.touch()
    return done.returncode, done.stdout


def main():
    build = Path(sys.argv[1])
    (build / "tidy").mkdir(exist_ok=True)
    checks = Path(".clang-tidy").read_bytes() + "".join(LESS).encode()
    commands = json.loads((build / "compile_commands.json").read_text())
    ours = [c for c in commands if c["file"].startswith("../src/")]
    failed = False
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for status, output in pool.map(lambda c: check(c, build, checks), ours):
            sys.stdout.buffer.write(output)
            failed |= status != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
