#!/usr/bin/env python3
"""Plays the journeys of new users: each NAME.sh here is what one of them types, and what must come back.

    run.py --build BUILD --python PYTHON [--keep DIR] [NAME ...]

What BUILD holds is installed as `make install` does it, into an empty folder; every journey has an empty
home, an empty working folder with its programs, and a virtual environment in which nothing of ours is set.
PYTHON is one that has torch and what else the programs import. --keep writes what was printed to
DIR/NAME.txt, and the score and times to DIR/journeys.csv. Ends with `N passed, N failed`.
"""
import argparse
import csv
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COLUMNS = ["journey", "score", "first_answer_s", "whole_s", "checks", "missing_for_ten"]
TIMEOUT_S = 600


def install(build, scratch):
    words = ["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", scratch / "root"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    [program] = (scratch / "root").rglob("bin/strata")
    return program.parents[1]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def environment(args, scratch, prefix):
    venv = scratch / "venv"
    subprocess.run([args.python, "-m", "venv", "--without-pip", venv], check=True)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = [subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
                for python in (args.python, venv / "bin" / "python")]
    Path(packages[1], "journeys.pth").write_text(f"{packages[0]}\n{prefix / 'lib/strata/python'}\n")
    [library] = prefix.rglob("libstrata_record.a")
    path = [venv / "bin", prefix / "bin", Path(args.python).parent, "/usr/bin", "/bin"]
    return {
        "PATH": ":".join(map(str, path)), "LC_ALL": "C.UTF-8", "COLUMNS": "100", "NO_COLOR": "1",
        "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
        "PKG_CONFIG_PATH": str(library.parent / "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(scratch / "root"),
        "LD_LIBRARY_PATH": str(library.parent), "DATA": str(ROOT / "tests" / "data"),
        "EXAMPLES": str(ROOT / "examples"), "PORT": str(free_port()),
    }


def play(script, env, scratch, attempt):
    """What the journey printed, with its own folders left out, and its exit status."""
    home = scratch / attempt / script.stem
    work = home / "work"
    work.mkdir(parents=True)
    programs = [*(HERE / "programs").iterdir(), ROOT / "tests/python/tiny_pipeline.py",
                ROOT / "examples/journeys/train.py"]
    for program in programs:
        if program.is_file():
            (work / program.name).write_text(program.read_text())
    env = dict(env, HOME=str(home), TMPDIR=str(home), JOURNEY=str(home))
    words = ["bash", "-c", '. "$1" && . "$2"', "bash", HERE / "kit.sh", script]
    done = subprocess.run(words, cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, timeout=TIMEOUT_S)
    text = done.stdout.decode("utf-8", "replace")
    for path, word in ((work, "."), (home, "~"), (scratch / "root", ""), (scratch, "~"), (ROOT, "strata")):
        text = text.replace(str(path), word)
    text = re.sub(r"/[^\s\"']*/site-packages/", "site-packages/", text)
    return text, done.returncode


def result(script, text):
    """A row of journeys.csv."""
    score, missing = re.search(r"^# score (\S+): (.*)$", script.read_text(), flags=re.M).groups()
    times = re.findall(r"^first answer after ([\d.]+) s, end after ([\d.]+) s$", text, flags=re.M)
    counts = re.findall(r"^(\d+) passed, (\d+) failed$", text, flags=re.M)
    first, whole = times[-1] if times else ("", "")
    passed, failed = map(int, counts[-1]) if counts and times else (0, 1)
    checks = f"{passed} of {passed + failed}"
    return passed, failed, dict(zip(COLUMNS, (script.stem, score, first, whole, checks, missing)))


def played(script, env, scratch, attempt):
    text, status = play(script, env, scratch, attempt)
    passed, failed, row = result(script, text)
    return text, passed, max(failed, int(status != 0)), row


def main():
    parser = argparse.ArgumentParser(description="play the journeys of new users")
    parser.add_argument("--build", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--python", required=True, type=lambda p: os.path.abspath(p))
    parser.add_argument("--keep", type=Path, help="a folder for what was printed")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    scripts = [s for s in sorted(HERE.glob("*.sh")) if s.name not in ("kit.sh", "run.sh")
               and (not args.names or s.stem in args.names)]
    rows, passed, failed = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="journeys-") as folder:
        scratch = Path(folder)
        env = environment(args, scratch, install(args.build, scratch))
        for script in scripts:
            text, p, f, row = played(script, env, scratch, "first")
            if f:  # a machine that stops for a second is not the user's mistake, nor ours
                print(text)
                text, p, f, row = played(script, env, scratch, "second")
                print(text if f else f"unsteady: journey {script.stem}")
            passed, failed = passed + p, failed + f
            rows.append(row)
            if args.keep:
                args.keep.mkdir(parents=True, exist_ok=True)
                (args.keep / f"{script.stem}.txt").write_text(text)
            print(f"{'FAILED' if f else 'ok':6} {script.stem:16} first answer {row['first_answer_s']:>5} s  "
                  f"end {row['whole_s']:>5} s  {row['checks']}", flush=True)
    if args.keep and not args.names:
        with open(args.keep / "journeys.csv", "w", newline="") as f:
            writer = csv.DictWriter(f, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
