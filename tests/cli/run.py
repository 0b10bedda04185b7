#!/usr/bin/env python3
"""Golden tests of the command line.

A .t file holds commands and what they must print, side by side:

    # A spelling mistake gets a suggestion.
    $ strata hepl
    ! strata: unknown command 'hepl'. Did you mean 'help'?
    ? 2

`$` is a command (bash; `> ` lines continue it), `|` its standard output, `!` its standard error,
`?` its exit status when it is not 0. Each file runs in an empty directory of its own; $DATA is a
link to tests/data, whose own path may have spaces and any length. Nothing is normalised but the
paths of these two ($DIR, $DATA). --update rewrites the expectations to what came out: read the diff
before you commit it.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TIMEOUT_S = 120


class Step:
    """One command with the lines that stand before it and the lines expected of it."""

    def __init__(self, line_no):
        self.line_no, self.prose, self.command, self.expected = line_no, [], [], []


def parse(text):
    steps, step = [], Step(1)
    for no, line in enumerate(text.splitlines(), 1):
        if line.startswith("$ "):
            if step.command:
                steps.append(step)
                step = Step(no)
            step.line_no = no
            step.command.append(line[2:])
        elif line.startswith("> ") and step.command and not step.expected:
            step.command.append(line[2:])
        elif line[:1] in ("|", "!", "?"):
            step.expected.append(line)
        else:
            if step.command:
                steps.append(step)
                step = Step(no)
            step.prose.append(line)
    return steps + [step]


def environment(strata, scratch, data):
    """A fixed environment; sanitizer options and the library path go through."""
    env = {k: v for k, v in os.environ.items() if re.match(r"(A|L|T|UB)SAN_|LD_LIBRARY_PATH", k)}
    env.update(PATH=f"{strata.parent}:/usr/local/bin:/usr/bin:/bin", HOME=str(scratch),
               DATA=str(data), LC_ALL="C.UTF-8", TZ="UTC", TERM="dumb", STRATA_TEST_THREADS="2")
    return env


def marked(mark, raw, paths):
    text = raw.decode("utf-8", "backslashreplace")
    for path, name in paths:
        text = text.replace(path, name)
    lines = [f"{mark} {line}".rstrip(" ") if not line else f"{mark} {line}"
             for line in text.split("\n")]
    if lines[-1] == mark:
        lines.pop()
    else:
        lines.append(f"{mark}\\ no newline at the end")
    return lines


def run(step, env, scratch, paths):
    done = subprocess.run(["bash", "-c", "\n".join(step.command)], cwd=scratch, env=env,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)
    lines = marked("|", done.stdout, paths) + marked("!", done.stderr, paths)
    return lines + ([f"? {done.returncode}"] if done.returncode else [])


def written(step, result):
    command = [("$ " if i == 0 else "> ") + line for i, line in enumerate(step.command)]
    return step.prose + command + result


def report(path, step, result):
    print(f"{path}:{step.line_no}: $ {step.command[0]}")
    for line in step.expected:
        if line not in result:
            print(f"  expected {line}")
    for line in result:
        if line not in step.expected:
            print(f"  got      {line}")
    if sorted(step.expected) == sorted(result):
        print("  the right lines in another order")


def run_file(path, strata, data, update, first=False):
    passed = failed = 0
    text = []
    with (tempfile.TemporaryDirectory(prefix="strata-cli-") as scratch,
          tempfile.TemporaryDirectory(prefix="st-") as place):
        link = Path(place) / "data"
        link.symlink_to(data)
        paths = [(scratch, "$DIR"), (str(link), "$DATA"), (str(data), "$DATA")]
        env = environment(strata, scratch, link)
        for step in parse(path.read_text()):
            if not step.command:
                text += step.prose
                continue
            result = run(step, env, scratch, paths)
            text += written(step, result)
            if result == step.expected or update:
                passed += 1
            else:
                failed += 1
                report(path, step, result)
                if first:
                    break
    if update:
        path.write_text("\n".join(text) + "\n")
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description="golden tests of the command line")
    parser.add_argument("--strata", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--update", action="store_true", help="rewrite the expectations")
    parser.add_argument("--first", action="store_true", help="stop at the first that fails")
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()
    data = Path(__file__).resolve().parent.parent / "data"
    passed = failed = 0
    for path in args.files:
        p, f = run_file(path, args.strata, data, args.update, args.first)
        passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
