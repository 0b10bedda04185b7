#!/usr/bin/env python3
"""What a recording of ours knows of its kernels, and how much of that is wrong, compared with a
torch.profiler trace of the same program.

    depth.py STRATA RECORDING TRACE [NAME]      one line of JSON
    depth.py STRATA RECORDING                   without the comparison

`strata kernels` says of both what launched each kernel, on which shapes, and at which line. Wrong is the
share of the time of the recording's kernels whose answer no kernel of that name has in the trace, where
the trace has that kernel at all: `shifted` is how far the shares of the answers are apart, which also
holds what differs between two runs. Kernels that Inductor made have no operator of their own in a trace;
they are not compared."""
import collections
import json
import subprocess
import sys


def kernels(strata, path, by):
    done = subprocess.run([strata, "kernels", path, "--by", by, "--json"], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def answers(rows, of):
    """By kernel: time by answer; None where it is not known."""
    found = collections.defaultdict(collections.Counter)
    for row in rows:
        if row["kind"] == "kernel":
            found[row["name"]][of(row)] += row["total_us"]
    return found


def operator(row):
    return None if not row["op"] or row["op"].startswith("cu") else row["op"]


def shapes(row):
    known = row.get("shapes")
    return (operator(row), known) if known else None


def function(row):
    """Of "FILE:LINE in FUNCTION": profilers know where a function starts, not the line that ran."""
    known = row.get("where")
    if not known or " in " not in known:
        return None
    place, name = known.rsplit(" in ", 1)
    return place.split(":")[0].rsplit("/", 1)[-1], name


def compare(ours, truth):
    all_us = compared = wrong = shifted = 0.0
    worst = collections.Counter()
    for name, by in ours.items():
        all_us += sum(by.values())
        known = {a: us for a, us in by.items() if a is not None}
        right = {a: us for a, us in truth.get(name, {}).items() if a is not None}
        if name.startswith("triton_"):
            continue
        if not known or not right:
            continue
        total, of_truth = sum(known.values()), sum(right.values())
        compared += total
        for answer, us in known.items():
            if answer not in right:
                wrong += us
                worst[f"{name[:60]}: {answer}"] += us
        apart = sum(abs(known.get(a, 0) / total - right.get(a, 0) / of_truth) for a in {*known, *right})
        shifted += total * apart / 2
    return {"compared_pct": pct(compared, all_us), "wrong_pct": pct(wrong, all_us),
            "shifted_pct": pct(shifted, all_us),
            "worst": [[what, pct(us, all_us)] for what, us in worst.most_common(4)]}


def pct(part, whole):
    return round(100 * part / whole, 2) if whole else None


def main():
    strata, recording, trace, name = (*sys.argv[1:], None, None)[:4]  # an empty trace is none
    by = {what: kernels(strata, recording, what) for what in ("op", "shape", "line", "module")}
    known = by["op"]["known"]
    all_us = known["kernel_us"]
    rows = [r for r in by["op"]["rows"] if r["kind"] == "kernel"]
    result = {"program": name or recording, "kernel_ms": round(all_us / 1e3, 1),
              **{f"{what}_pct": pct(known[f"{what}_us"], all_us)
                 for what in ("op", "shapes", "module", "line")},
              "work_pct": pct(sum(r["total_us"] for r in rows if r["work_from"] != "unknown"),
                              sum(r["total_us"] for r in rows)),
              "carried_pct": pct(known["carried_us"], known["compared_us"]), "units": known["units_in_depth"]}
    if trace:
        for what, view, of in (("op", "op", operator), ("shapes", "shape", shapes),
                               ("line", "line", function)):
            truth = answers(kernels(strata, trace, view)["rows"], of)
            result[f"against_{what}"] = compare(answers(by[view]["rows"], of), truth)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
