#!/usr/bin/env python3
"""The subjects of commits: `area: text`, at most 72 characters, no full stop at the end.

Looks at the commits that were made since this file was added, as far as the history is here: a
shallow clone or an unpacked archive has none to look at. Older subjects are left as they are.
"""
import re
import subprocess
import sys
from pathlib import Path

LONGEST = 72
SHAPE = re.compile(r"[a-z0-9_.][\w./-]*(, [\w./-]+)*: \S")


def git(*words):
    """What git says, or None where there is no git or no repository."""
    try:
        done = subprocess.run(["git", *words], cwd=Path(__file__).resolve().parent, check=False,
                              capture_output=True, text=True, errors="replace")
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def mistake(subject):
    """What is wrong with a subject, or None."""
    if not SHAPE.match(subject):
        return "write it as `area: text`"
    if len(subject) > LONGEST:
        return f"{len(subject)} characters, at most {LONGEST}"
    if subject.endswith("."):
        return "no full stop at the end"
    return None


def subjects():
    """(commit, subject) of the commits since this file was added."""
    added = git("log", "--diff-filter=A", "--format=%H", "--", Path(__file__).name)
    if not added:
        return []
    first = added.split()[-1]
    lines = git("log", "--no-merges", "--ancestry-path", "--format=%h %s", f"{first}..HEAD")
    return [line.split(" ", 1) for line in (lines or "").splitlines()]


def main():
    wrong = [(commit, subject, mistake(subject)) for commit, subject in subjects()]
    wrong = [w for w in wrong if w[2]]
    for commit, subject, what in wrong:
        print(f"{commit}: {what}: {subject}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
