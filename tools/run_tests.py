#!/usr/bin/env python3
"""Runs every test registered in the given Meson build folders and prints one line at the end:
`N passed, N failed`, over everything. Each test program ends with such a line itself; one that
dies before it counts as one failure.

    run_tests.py [-j N] [-k WORD] [--without SUITE] BUILD [BUILD:SUITE ...]

BUILD:SUITE takes only that suite of a build folder (for example the thread-sanitizer build), BUILD:-SUITE
all but that one. Tests with a higher priority start first: the longest ones, so that none is left
alone at the end.

What fails beside others is run once more by itself: programs are recorded here, and a machine that gives
them no processor for a second is not their mistake. What then passes is listed as unsteady, with what it
said when it failed; suites that repeat parts of themselves (AGAIN_INSIDE) are not repeated here.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

AGAIN_INSIDE = {"python", "python-all", "journeys"}
UNSTEADY = re.compile(r"^unsteady: (.+)$", re.MULTILINE)
COUNT = re.compile(rb"(\d+) (passed|failed|errors?)\b")


def registered(build):
    """The tests of BUILD, BUILD:SUITE or BUILD:-SUITE."""
    folder, _, suite = build.partition(":")
    raw = subprocess.run(["meson", "introspect", "--tests", folder], check=True,
                         capture_output=True).stdout
    without, suite = suite.startswith("-"), suite.removeprefix("-")
    tests = [t for t in json.loads(raw) if not suite or (f"strata:{suite}" in t["suite"]) != without]
    for t in tests:
        t["folder"] = folder
        t["title"] = f"{folder} {t['suite'][0].split(':')[-1]} {t['name']}"
    return tests


def counts(output):
    """What the last counting line of the output says, or None."""
    for line in reversed(output.splitlines()):
        found = {kind.rstrip(b"s") if kind.startswith(b"err") else kind: int(n)
                 for n, kind in COUNT.findall(line)}
        if found:
            return found.get(b"passed", 0), found.get(b"failed", 0) + found.get(b"error", 0)
    return None


def run(test):
    env = dict(os.environ, **test["env"])
    start = time.monotonic()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(test["cmd"], env=env, cwd=test["workdir"] or test["folder"],
                                 stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        status, cpu_s = wait(child, test["timeout"])
        said.seek(0)
        output = said.read() + (b"\ntimed out\n" if status is None else b"")
    passed, failed = counts(output) or (0, 0)
    if status != 0 and failed == 0:
        failed = 1
    return test, passed, failed, output, time.monotonic() - start, cpu_s


def wait(child, timeout_s):
    """The exit status of a child, None if it was killed for taking too long; and the processor time
    that it and all it waited for took, which does not depend on what else the machine is doing."""
    killer = threading.Timer(timeout_s, child.kill) if timeout_s else None
    if killer:
        killer.start()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    late = False
    if killer:
        late = not killer.is_alive()
        killer.cancel()
    return None if late else child.returncode, used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description="run all tests, add up the results")
    parser.add_argument("-j", type=int, default=min(2, os.cpu_count() or 1), metavar="N")
    parser.add_argument("-k", default="", metavar="WORD", help="only tests with WORD in the name")
    parser.add_argument("--without", default="", metavar="SUITE", help="leave these out")
    parser.add_argument("builds", nargs="+", metavar="BUILD[:SUITE]")
    args = parser.parse_args()
    tests = [t for b in args.builds for t in registered(b)
             if args.k in t["title"] and f"strata:{args.without}" not in t["suite"]]
    tests.sort(key=lambda t: -t["priority"])
    tally = Tally()
    with ThreadPoolExecutor(args.j) as pool:
        for done in as_completed([pool.submit(run, t) for t in tests]):
            tally.add(*done.result())
    for test in tally.to_repeat:
        tally.add(*run(test), again=True)
    return tally.end()


class Tally:
    """Adds up what tests say, and prints a line for each."""

    def __init__(self):
        self.passed = self.failed = self.cpu_s = 0
        self.to_repeat, self.unsteady = [], []

    def add(self, test, passed, failed, output, seconds, cpu_s, again=False):
        repeat = failed and not again and not AGAIN_INSIDE & {s.split(":")[-1] for s in test["suite"]}
        unsteady = UNSTEADY.findall(output.decode("utf-8", "replace"))
        if failed or unsteady:
            sys.stdout.flush()
            sys.stdout.buffer.write(output[-20000:] + b"\n")
        word = "again" if repeat else "FAILED" if failed else "ok"
        print(f"{word:6} {test['title']:50} {passed:6} passed {failed:4} failed "
              f"{seconds:7.1f} s {cpu_s:7.1f} s cpu", flush=True)
        self.cpu_s += cpu_s
        if repeat:
            return self.to_repeat.append(test)
        self.passed, self.failed = self.passed + passed, self.failed + failed
        if again and not failed:
            self.unsteady.append(test["title"])
        self.unsteady += unsteady

    def end(self):
        print(f"{self.cpu_s:.0f} s of processor time")
        for title in self.unsteady:
            print(f"unsteady: {title}")
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0


if __name__ == "__main__":
    sys.exit(main())
