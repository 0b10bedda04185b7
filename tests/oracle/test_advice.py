#!/usr/bin/env python3
"""Traces whose fix was timed: the first finding names it, and its gain is near the measured one.

    test_advice.py --strata BINARY DATA-FOLDER...

The gain was measured without a profiler, fixed against unfixed. Near is within 10 points or a quarter, as in
bench/advice. Traces that are not at hand are skipped."""
import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from test_consistency import more_folders

# file, rule, words of the finding, measured gain in percent; no rule: nothing above low
TRUTH = [
    ("advice/attention_math_stack.json.gz", "unfused_attention", "fused", 94.3),
    ("advice/gemm_fp32_stack.json.gz", "float32_products", "float32", 86.6),
    ("advice/elementwise_chain_stack.json.gz", "unfused_chain", "fused", 80.8),
    ("advice/small_mlp_stack.json.gz", "launch_bound", "launch-bound", 82.5),
    ("advice/padding_mask.json.gz", "slow_attention", "mask", 35.0),
    ("advice3/anomaly_on.light.json.gz", "settings", "anomaly", 80.2),
    ("advice3/anomaly_on.strata.json.gz", "settings", "anomaly", 80.2),
    ("advice3/checkpoint_on.light.json.gz", "repeated_work", "computed twice", 50.6),
    ("advice3/checkpoint_on.strata.json.gz", "repeated_work", "computed twice", 50.6),
    ("advice3/lora_unmerged.light.json.gz", "cheaper_way", "adapters", 33.7),
    ("advice3/lora_unmerged.strata.json.gz", "cheaper_way", "adapters", 33.7),
    ("advice3/top_p_sort.light.json.gz", "cheaper_way", "vocabulary", 79.0),
    ("advice3/top_p_sort.strata.json.gz", "cheaper_way", "vocabulary", 79.0),
    ("wan/wan_before_compile.json.gz", None, "", 0),
    ("flux2/flux2_after_compile.json.gz", None, "", 0),
]


def report(strata, trace):
    done = subprocess.run([strata, "report", str(trace), "--json"], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)["findings"]


def wrong(findings, rule, words, measured):
    """What is wrong with the findings; None where they are right."""
    if rule is None:
        loud = [f for f in findings if f["severity"] != "low"]
        return f"{loud[0]['rule']} is {loud[0]['severity']}" if loud else None
    if not findings:
        return "no findings"
    first = findings[0]
    if first["rule"] != rule or words not in first["title"]:
        return f"the first finding is {first['rule']}: {first['title']}"
    gain = first["predicted_gain_alone_pct"]
    if abs(gain - measured) > max(10, measured / 4):
        return f"{rule} gains {gain:.1f} %, measured {measured} %"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strata", required=True)
    parser.add_argument("folders", nargs="+", type=Path)
    args = parser.parse_args()
    passed = failed = 0
    for name, rule, words, measured in TRUTH:
        found = [f / name for f in [*args.folders, *more_folders()] if (f / name).exists()]
        if not found:
            continue
        why = wrong(report(args.strata, found[0]), rule, words, measured)
        passed, failed = passed + (why is None), failed + (why is not None)
        if why:
            print(f"{name}: {why}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
