#!/usr/bin/env python3
"""Judges what `strata report` says of the unfixed programs against what their fixes were measured to gain.

    judge.py --strata build/src/strata --traces DIR [DIR...] [--csv bench/advice/advice.csv]
             [--options bench/advice/options.csv] [-v]

DIR holds what measure.py wrote. A finding names a fix when it matches the fix's words (says.py). Right
is: the first finding that names a fix is the first or second of the report; its gain, alone, is within
10 points or a quarter of the measured one; a healthy program has no finding above low. Where a finding
offers several ways to fix it, each that was measured is also judged apart, in the second file.
"""
import argparse
import collections
import csv
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

COLUMNS = ("case", "kind", "recorder", "fix", "measured_pct", "spread", "rank", "predicted_pct", "ok_rank",
           "ok_gain", "counted", "finding")
OPTION_COLUMNS = ("case", "recorder", "option", "measured_pct", "spread", "predicted_pct", "ok_gain")
WORTH_PCT = 5  # a fix that gains less is none
RECORDERS = "light", "full", "strata"
NO_FIXES = {"warm_up"}  # about the recording, not the loop


def unpack(folders, where):
    """All traces of all folders in one place, and what was measured, the latest of each case: one that
    was only recorded again keeps its timings, and its other traces."""
    cases = {}
    for folder in map(Path, folders):
        found = sorted(folder.glob("**/advice.json"))
        if not found:
            sys.exit(f"judge.py: {folder} holds no advice.json: run measure.py on a machine with a GPU")
        for file in found:
            for case in json.loads(file.read_text())["cases"]:
                old = cases.get(case["case"], {})
                traces = {**old.get("traces", {}), **case["traces"]}
                cases[case["case"]] = {**old, **case, "traces": traces}
            for shard in sorted(file.parent.glob("traces_*.tar")):
                with tarfile.open(shard) as archive:
                    archive.extractall(where, filter="data")
    return cases


def report(strata, trace):
    done = subprocess.run([strata, "report", str(trace), "--json", "--limit", "20"], capture_output=True,
                          text=True)
    if done.returncode:
        raise RuntimeError(f"{trace.name}: {done.stderr.strip()[:200]}")
    return json.loads(done.stdout)


def words(finding, *keys):
    source = finding.get("source") or {}
    texts = {**finding, "function": source.get("function")}
    return "\n".join(str(texts.get(key) or "") for key in keys)


def named(finding, fixes):
    """The fix that a finding names, the one it names first where it names several."""
    found = []
    for i, fix in enumerate(fixes):
        here = re.search(fix["says"], words(finding, "fix"))
        there = re.search(fix["says"], words(finding, "rule", "title", "subject", "function", "fix"))
        if here or there:
            found.append((here is None, (here or there).start(), i))
    return fixes[min(found)[2]] if found else None


def options(finding):
    """(words, predicted gain) of the ways to fix it that are priced apart."""
    for option in finding.get("options", []):
        name = {"compile": "torch.compile"}.get(option["name"], option["name"])
        yield name, option["gain_pct"]


def offered(finding, fixes):
    """(fix, predicted gain) of the first way to fix it that is one of these."""
    for name, predicted in options(finding):
        for fix in fixes:
            if re.search(fix["says"], name):
                return fix, predicted
    return None, None


def within(predicted, measured):
    return abs(predicted - measured) <= max(10, abs(measured) / 4)


def worthwhile(case):
    """The fixes that gain something here, with what they gain."""
    return [{**fix, **case["variants"][fix["name"]]} for fix in case.get("fixes", [])
            if case["variants"].get(fix["name"], {}).get("gain_pct", 0) >= WORTH_PCT]


def judge_fix(case, findings):
    fixes = worthwhile(case)
    for rank, finding in enumerate(findings, 1):
        if finding["rule"] in NO_FIXES:
            continue
        fix = named(finding, fixes)
        predicted = finding.get("predicted_gain_alone_pct", finding.get("predicted_gain_pct"))
        predicted = predicted if finding.get("predicts_gain", True) else None
        if not fix:
            fix, predicted = offered(finding, fixes)
        if fix:
            ok = predicted is not None and within(predicted, fix["gain_pct"])
            return dict(fix=fix["name"], measured_pct=fix["gain_pct"], spread=fix["spread_pct"], rank=rank,
                        predicted_pct="" if predicted is None else round(predicted, 1),
                        ok_rank=rank <= 2, ok_gain=ok, finding=finding["rule"])
    best = max(fixes, key=lambda fix: fix["gain_pct"])
    first = findings[0]["rule"] if findings else "none"
    return dict(fix=best["name"], measured_pct=best["gain_pct"], spread=best["spread_pct"], rank="",
                predicted_pct="", ok_rank=False, ok_gain=False, finding=f"not named; first: {first}")


def judge_options(case, recorder, said):
    """A row for each way to fix a finding that was measured, whatever it gains."""
    for finding in said["findings"]:
        for name, predicted in options(finding):
            for fix in case.get("fixes", []):
                found = case["variants"].get(fix["name"])
                if found and re.search(fix["says"], name):
                    yield dict(case=case["case"], recorder=recorder, option=fix["name"],
                               measured_pct=found["gain_pct"], spread=found["spread_pct"],
                               predicted_pct=round(predicted, 1),
                               ok_gain=within(predicted, found["gain_pct"]))


def judge_healthy(said):
    """Quiet: nothing above low. The first that is not is what the row shows. A report that saw nothing
    or will not judge is not quiet."""
    if said["abstains"] or not said["gpu_busy_pct"]:
        return dict(ok_rank=False, ok_gain=False, finding="no verdict")
    findings = said["findings"]
    loud = [f for f in findings if f["severity"] != "low"]
    worst = loud[0] if loud else None
    return dict(fix="", measured_pct=0, spread="", rank=findings.index(worst) + 1 if loud else "",
                predicted_pct=round(worst["predicted_gain_pct"], 1) if loud else "", ok_rank=not loud,
                ok_gain=not loud, finding=worst["rule"] if loud else "")


def judge(case, recorder, said):
    row = dict(case=case["case"], kind=case["kind"], recorder=recorder,
               counted=recorder in case["seen_by"])
    if case["kind"] == "healthy":
        return row | judge_healthy(said)
    if not worthwhile(case):
        return row | dict(counted=False, finding="no fix gains anything here", ok_rank="", ok_gain="")
    return row | judge_fix(case, said["findings"])


def judged(cases, traces, strata, priced):
    """A row per trace; those of options are added to `priced`."""
    for name in sorted(cases):
        for recorder in RECORDERS:
            trace = cases[name]["traces"].get(recorder, {}).get("file")
            if not trace or not (traces / trace).exists():
                continue
            try:
                said = report(strata, traces / trace)
            except (RuntimeError, ValueError) as why:
                print(f"judge.py: {why}", file=sys.stderr)
                yield dict(case=name, kind=cases[name]["kind"], recorder=recorder, counted=True,
                           ok_rank=False, ok_gain=False, finding="the report failed")
                continue
            priced += judge_options(cases[name], recorder, said)
            yield judge(cases[name], recorder, said)


def of(rows, key):
    return f"{sum(bool(row[key]) for row in rows)} of {len(rows)}"


def line(rows):
    ill = [row for row in rows if row["kind"] != "healthy"]
    well = [row for row in rows if row["kind"] == "healthy"]
    return (f"fix first or second: {of(ill, 'ok_rank')}; gain right: {of(ill, 'ok_gain')}; "
            f"healthy quiet: {of(well, 'ok_rank')}")


def summary(rows):
    rows = [row for row in rows if row["counted"]]
    groups = collections.defaultdict(list)
    for row in rows:
        groups["recorded by " + row["recorder"]].append(row)
    for row in rows:
        groups["kind " + row["kind"]].append(row)
    for name in sorted(groups, reverse=True):
        print(f"  {name:22} {line(groups[name])}")
    programs = {row["case"] for row in rows if row["kind"] != "healthy"}
    print(f"{len(programs)} programs, {len(rows)} traces: {line(rows)}")


def write(path, columns, rows):
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: {True: "yes", False: "no"}.get(v, v) if k.startswith(("ok", "counted"))
                          else v for k, v in row.items()} for row in rows)


def show(row):
    good = "ok" if row["ok_rank"] and row["ok_gain"] else "--" if row["counted"] else "  "
    cells = [str(row.get(key, "")) for key in COLUMNS[:8]]
    print(f"{good} {cells[0]:24} {cells[1]:9}{cells[2]:7}{cells[3]:19}{cells[4]:>6} rank {cells[6]:3}"
          f"{cells[7]:>6}  {row['finding']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strata", default="build/src/strata")
    parser.add_argument("--traces", nargs="+", required=True, metavar="DIR")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--options", type=Path)
    parser.add_argument("-v", "--verbose", action="store_true", help="every trace, not only the sums")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="advice_") as folder:
        cases = unpack(args.traces, folder)
        priced = []
        rows = list(judged(cases, Path(folder), args.strata, priced))
    if args.csv:
        write(args.csv, COLUMNS, rows)
    if args.options:
        write(args.options, OPTION_COLUMNS, priced)
    for row in rows if args.verbose else []:
        show(row)
    summary(rows)
    for name in sorted({row["option"] for row in priced}):
        print(f"  option {name:15} gain right: {of([r for r in priced if r['option'] == name], 'ok_gain')}")


if __name__ == "__main__":
    main()
