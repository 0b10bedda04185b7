#!/usr/bin/env python3
"""No report contradicts itself in what it says: not of any trace at hand, nor of any mutant of one.

    test_statements.py --strata BINARY DATA-FOLDER...

test_consistency.py holds the figures of an analysis against each other; this test reads the
statements that are made of them: the screen, `-v`, markdown, JSON and page of `strata report`, and the
views they share figures with. Advice that the same report rules out, figures that differ between views,
parts above their whole, percentages above 100, times after the end, findings without cost or gain,
commands that cannot be typed, lines wider than the screen, a difference between a trace and itself, and
a healthy row of the checklist beside a finding on its subject are failures. STRATA_MUTANTS=N makes N
times as many mutants."""
import argparse
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from page_reader import element
from test_consistency import is_device, is_span, more_folders, mutant as lossy_mutant, small_sources
from traces import find_traces

LARGEST = 8 << 20
MOST_LINES = 25
MOST_MD = 8000
# which findings make a row of the checklist unhealthy, by what limits the program
ROW_LIMITS = {"gpu_busy": {"cpu", "data", "transfer", "communication"}, "cpu_waits": {"sync"},
              "kernels": {"gpu"}, "compile": {"launch"}, "launch_latency": {"launch"}}
FIXES = Path(__file__).resolve().parents[2] / "python/strata/_try/fixes"
# fills the columns beside the places of findings
TITLE_COLUMNS = 46
# the name of a trace has at least 24 columns on the first line, however long the name of the device
COLUMNS, FIRST_LINE = 100, 112
# what a finding says besides time
NOT_ABOUT_TIME = {"memory_growth", "warm_up", "held_clock"}


# ---- mutants ----

def double_times(events, rng):
    for e in events:
        if is_span(e):
            e["ts"], e["dur"] = float(e["ts"]) * 2, float(e["dur"]) * 2


def drop_a_stream(events, rng):
    streams = sorted({str(e.get("tid")) for e in events if is_span(e) and is_device(e)})
    gone = rng.choice(streams) if streams else None
    events[:] = [e for e in events if not (is_span(e) and is_device(e) and str(e.get("tid")) == gone)]


def cut_window(events, rng):
    spans = [e for e in events if is_span(e)]
    if not spans:
        return
    begin, end = min(float(e["ts"]) for e in spans), max(float(e["ts"]) for e in spans)
    low, high = sorted((rng.uniform(begin, end), rng.uniform(begin, end)))
    events[:] = [e for e in events if not is_span(e) or low <= float(e["ts"]) <= high]


def rename_kernels(events, rng):
    for e in events:
        if e.get("cat") == "kernel":
            e["name"] = f"k{sum(map(ord, str(e.get('name')))) % 7}"


def slow_kernels(events, rng):
    for e in events:
        if e.get("cat") == "kernel" and is_span(e):
            e["dur"] = float(e["dur"]) * 20


MUTATORS = (double_times, drop_a_stream, cut_window, rename_kernels, slow_kernels)


def mutants(trace, name, times):
    """Each of the mutations above, and one of those that lose events, from JSON events."""
    for mutate in MUTATORS:
        changed = json.loads(json.dumps(trace))
        mutate(changed["traceEvents"], random.Random(f"{name} {mutate.__name__}"))
        yield changed, mutate.__name__
    for seed in range(times):
        yield lossy_mutant(trace, f"{name} statements {seed}")


# ---- reading ----

def run(strata, *args):
    env = dict(os.environ, COLUMNS="100", NO_COLOR="1")
    done = subprocess.run([strata, *map(str, args)], stdin=subprocess.DEVNULL, check=False, env=env,
                          capture_output=True, text=True, errors="replace", timeout=600)
    return done.stdout if done.returncode == 0 else None


class Report:
    """All views of one trace."""

    def __init__(self, strata, path):
        self.strata, self.path = strata, path
        self.wrong = []
        told = run(strata, "report", path, "--json")
        self.data = json.loads(told) if told else None
        if self.data:
            self.screen = run(strata, "report", path) or ""
            self.full = run(strata, "report", path, "-v") or ""
            self.md = run(strata, "report", path, "--md") or ""
            self.page = self.page_head()

    def page_head(self):
        """The data of the HTML page; None where there is none."""
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "page.html")
            if run(self.strata, "report", self.path, "--html", page) is None:
                return None
            return json.loads(element(page.read_text(encoding="utf-8"), "head"))

    def say(self, text):
        self.wrong.append(text)

    def need(self, ok, text):
        if not ok:
            self.say(text)


def read_json(strata, *args):
    return json.loads(run(strata, *args, "--json") or "{}")


def flat(text):
    return " ".join(text.split())


def row(data, name):
    return next((r for r in data["checklist"] if r["id"] == name), None)


# ---- one check per kind of contradiction ----

def no_small_fix(r):
    """Below a headline that says that no fix gains so much, no finding of less is shown."""
    a = r.data["answer"]
    least = re.search(r"no fix was found that gains ([0-9.]+) %", a["headline"])
    if not least:
        return
    r.need(a["worth_pct"] == float(least[1]), f"findings of {a['worth_pct']} % below: {a['headline']}")
    r.need(not any(f["worth"] for f in r.data["findings"]), "a finding below a headline without fixes")
    r.need(a["gain_pct"] == 0 and not a["fixes"], "a gain beside a headline without fixes")



def one_answer(r):
    """The same result in every view."""
    headline = flat(r.data["answer"]["headline"])
    for name in ("screen", "full", "md"):
        r.need(headline in flat(getattr(r, name)), f"{name} does not say: {headline}")
    r.need(len(r.screen.splitlines()) <= MOST_LINES, f"{len(r.screen.splitlines())} lines on the screen")
    r.need(len(r.md.encode()) < MOST_MD, "markdown is too long")


def parts_and_wholes(r):
    a, data = r.data["answer"], r.data
    wall = a["wall_us"]
    r.need(0 <= a["after_us"] <= wall, f"{a['after_us']} us after the fixes, of {wall} us")
    r.need(0 <= a["gain_pct"] <= 100, f"a gain of {a['gain_pct']} %")
    r.need(0 <= a["gpu_busy_pct"] <= 100.001, f"the GPU is busy {a['gpu_busy_pct']} %")
    told = sum(f["predicted_gain_us"] for f in data["findings"])
    r.need(told <= wall * 1.001 or data["abstains"], f"all findings gain {told} us of {wall} us")
    first = [f for f in data["findings"] if f["worth"]][:a["fixes"]]
    sum_pct = sum(f["predicted_gain_pct"] for f in first)
    r.need(not a["fixes"] or abs(sum_pct - a["gain_pct"]) < 0.5 or sum_pct > 100,
           f"the answer gains {a['gain_pct']} %, its {a['fixes']} findings {sum_pct:.2f} %")
    rungs = [g["wall_us"] for g in data["ladder"]]
    r.need(all(x >= y for x, y in zip(rungs, rungs[1:])), f"the ladder goes up: {rungs}")
    fixed = [g["wall_us"] for g in data["ladder"] if g["kind"] == "gpu"]
    if fixed and a["fixes"]:
        r.need(a["after_us"] >= fixed[0] * 0.99, f"{a['after_us']} us after the fixes, but the GPU alone "
                                                 f"needs {fixed[0]} us")
    left = re.search(r"another (\d+) % of the time the GPU is idle", a["detail"] or "")
    if left:
        r.need(int(left[1]) <= 100.5 - a["gpu_busy_pct"], f"busy {a['gpu_busy_pct']} %, and {left[0]}")
    share = sum(c["share_pct"] for c in data["idle_causes"])
    r.need(share <= 100.5, f"the GPU waits {share} % of the time")


def percentages(r):
    for name in ("screen", "full", "md"):
        for found in re.finditer(r"([-+]?[\d,]+(?:\.\d+)?) %", getattr(r, name)):
            value = float(found[1].replace(",", ""))
            after = getattr(r, name)[found.end():found.end() + 8]
            before = getattr(r, name)[:found.start()][-30:]
            if abs(value) > 100.5 and "slower" not in after and "replay" not in before and (
                    "misses the" not in before):
                line = getattr(r, name)[:found.end()].splitlines()[-1]
                r.say(f"{name}: {flat(line)[-90:]}")
            if re.fullmatch(r"[-+]0\.0+", found[1]):
                r.say(f"{name}: a signed zero, {found[0]}")


def end_of(r):
    """Where the trace ends; None where it is unknown."""
    return read_json(r.strata, "info", r.path).get("span_us")


def times_within(r):
    whole = end_of(r)
    for f in r.data["findings"]:
        for e in f["evidence"]:
            if whole and e.get("at_us", 0) > whole * 1.001 + 1:
                r.say(f"evidence of {f['rule']} at {e['at_us']} us, after the end at {whole} us")
    units = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
    for found in re.finditer(r"first work ([\d.]+) (\w+) after the start, of ([\d.]+) (\w+) in total",
                             flat(r.md)):
        if float(found[1]) * units[found[2]] > float(found[3]) * units[found[4]] * 1.001:
            r.say(found[0])


def findings_have_reasons(r):
    for f in r.data["findings"]:
        cost = f["blocked_us"] + f["exposed_us"] + (f["device_us"] or 0) + f["predicted_gain_us"]
        r.need(cost > 0 or f["rule"] in NOT_ABOUT_TIME, f"{f['rule']} has neither cost nor gain")
        r.need(f["brief"] and f["fix_brief"], f"{f['rule']} has no brief words")


def rows_beside_findings(r):
    for c in r.data["checklist"]:
        about = [f["rule"] for f in r.data["findings"] if f["predicts_gain"] and f["limit"] in
                 ROW_LIMITS.get(c["id"], ()) and f["predicted_gain_pct"] >= r.data["answer"]["worth_pct"]]
        r.need(not (c["healthy"] and about), f"{c['id']} is ok beside {about}: {c['verdict']}")


def no_advice_against_itself(r):
    a, data = r.data["answer"], r.data
    gains = [f["predicted_gain_pct"] for f in data["findings"] if f["predicts_gain"]]
    if a["kind"] == "already_fast":
        r.need(not gains or sum(gains) < 3, f"already fast, and findings gain {gains}")
        r.need("faster with" not in r.screen, "already fast and faster")
    if a["kind"] == "faster":
        r.need(a["fixes"] > 0 and a["after_us"] < a["wall_us"], "faster without a fix")
        r.need("no findings" not in r.full, "faster, and no findings")
    if ", CUDA graphs," in a["state"]:
        r.need("with CUDA graphs" not in a["headline"], f"all runs in graphs: {a['headline']}")
    for n in a["not_slow"]:
        r.need(n["gain_us"] < a["wall_us"] * r.data["answer"]["worth_pct"] / 100, f"not slow: {n}")
    rough = data["roofline"]["of_roof_pct"]
    if a["kind"] == "already_fast" and rough is not None:
        r.need(f"{rough:.0f} %" in a["headline"], f"kernels reach {rough} %: {a['headline']}")


def what_applies(r):
    """No words for other programs, recorders or pipelines."""
    strings = r.screen + r.full + r.md
    if str(r.path).endswith(".xplane.pb"):
        for word in ("torch.compile", "record_shapes", "DataLoader(", "eager", "strata try"):
            r.need(word not in r.screen, f"{word} in the report of a program without torch")
    if not re.search("scheduler|diffusers", r.full.split("checklist")[0] + json.dumps(r.data["findings"])):
        r.need("no stage is named scheduler" not in strings, "asks for a scheduler")
    if r.path.is_dir():
        r.need("record_shapes=True" not in strings, "a flag of torch.profiler for our own recording")


def views_agree(r):
    a, data = r.data["answer"], r.data
    if data["abstains"] or a["kind"] == "no_gpu_work":
        return
    busy, waits, compiled = row(data, "gpu_busy"), row(data, "cpu_waits"), row(data, "compile")
    if busy and busy["value"] is not None:
        r.need(abs(busy["value"] - a["gpu_busy_pct"]) < 0.01, f"busy {busy['value']} and {a['gpu_busy_pct']}")
    if waits and waits["value"] is not None:
        said = "CPU" in a["state"]  # of kernels alone nothing is known about the CPU
        r.need(not said or ("never waits" in a["state"]) == (waits["value"] == 0),
               f"{waits['verdict']}: {a['state']}")
    told = re.search(r"([\d,]+) kernels? per step", a["state"])
    steps = json.loads(run(r.strata, "steps", r.path, "--json") or "{}").get("steps") or []
    judged = re.search(r"   ([\d,]+) steps?   ", r.screen.partition("\n")[0])
    # start-up that a report leaves out is in the list of steps
    if told and steps and judged and int(judged[1].replace(",", "")) == len(steps):
        mean = sum(s["gpu"]["kernels"] if "gpu" in s else s["kernels"] for s in steps) / len(steps)
        r.need(abs(int(told[1].replace(",", "")) - mean) <= 0.501, f"{told[0]}, but steps has {mean}")
        r.need(compiled is None or abs(compiled["value"] - mean) < 0.01, f"checklist: {compiled}")
    latency = row(data, "launch_latency")
    launches = json.loads(run(r.strata, "gaps", r.path, "--launches", "--json") or "{}")
    if latency and latency["value"] and launches.get("all"):
        median = launches["all"]["latency_from_call_start"]["median_us"]
        r.need(abs(latency["value"] - median) < 0.01, f"launch latency {latency['value']} and {median} us")


def hints_work(r):
    """What comes next can be typed: every command below the report that writes nothing."""
    for line in r.screen.partition("\nnext: ")[2].splitlines():
        found = re.match(r"(?:next: )?\s*strata (.*?)(?:   .*)?$", line)
        if found and not re.search(r"--html| -v$", found[1]):
            r.need(run(r.strata, *shlex.split(found[1])) is not None, f"fails: strata {found[1]}")


def launches_within(r):
    """As many launches as there are, as far apart as the report says, fit into the time it says."""
    for f in r.data["findings"]:
        found = re.search(r"The (?:loop|stage) makes ([\d,]+) launches per (step|call), "
                          r"about one every ([\d.]+) (\w+),", f["why"])
        if not found:
            continue
        between = float(found[3]) * {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[found[4]]
        needed = int(found[1].replace(",", "")) * between
        r.need(needed <= r.data["answer"]["wall_us"] * 1.02, f"{found[0]} takes {needed:.0f} us of "
                                                             f"{r.data['answer']['wall_us']:.0f} us")


def limit_fits(r):
    """What limits the program is not what the report rules out, nor are cold traces good ones."""
    a, reason = r.data["answer"], r.data["no_gain_reason"] or ""
    if "launching less gains nothing" in reason:
        r.need(a["limit"] != "launch", f"launch-bound, and {reason}")
    if "contains only start-up" in a["headline"]:
        r.need("trace good" not in a["state"], f"{a['headline']}: {a['state']}")
    r.need("no cause stands out" not in (run(r.strata, "gaps", r.path) or ""), "gaps denies its causes")


def page_says_the_same(r):
    """The page has the answer and the findings of the other views, and the same commands."""
    if r.page is None:
        return
    told = r.page["sets"][0]["report"]
    for key in ("answer", "no_gain_reason", "ladder", "checklist"):
        r.need(told.get(key) == r.data.get(key), f"the page has another {key}")
    keys = ("rule", "title", "why", "fix_brief", "predicted_gain_us", "worth", "try_command")
    for one, other in zip(told["findings"], r.data["findings"]):
        for key in keys:
            r.need(one[key] == other[key], f"the page has another {key}: {one[key]}, {other[key]}")
    r.need(len(told["findings"]) == len(r.data["findings"]), "the page has other findings")


def commands_to_try(r):
    """A fix that `strata try` knows, for programs it can run."""
    known = re.compile(r'^    name = "(\w+)"', re.M)
    names = {n for f in FIXES.glob("*.py") for n in known.findall(f.read_text(encoding="utf-8"))}
    for f in r.data["findings"]:
        command = f["try_command"]
        r.need((command is None) == (f["try"] is None), f"{f['rule']}: {f['try']} and {command}")
        if command:
            words = shlex.split(command)
            r.need(words[:3] == ["strata", "try", "--fix"] and words[4:6] == ["--", "python"] and
                   words[3] == f["try"] and len(words) == 7, command)
            r.need(words[3].split(":")[0] in names, f"no such fix: {command}")
    shown = re.findall(r"^     try    (.*?)(?:     why: .*)?$", r.screen, re.M)
    for text in shown:
        r.need(any(f["try_command"] == text for f in r.data["findings"]), f"another command: {text}")


def gains_alone(r):
    """A wait that is not worth removing gains what `strata whatif` says of its removal."""
    slow = r.data["answer"]["not_slow"]
    sites = read_json(r.strata, "syncs", r.path).get("sites") or [] if slow else []
    for n in slow:
        same = [s for s in sites if s["kind"] == "readback" and s["blocked_us"] == n["blocked_us"]]
        if len(same) != 1:
            continue
        told = read_json(r.strata, "whatif", r.path, "--drop-sync", same[0]["id"])
        if "predicted_gain_us" in told:
            gain = max(told["predicted_gain_us"], 0)
            r.need(abs(gain - n["gain_alone_us"]) <= 1 + gain / 100,
                   f"{n['what']} gains {n['gain_alone_us']} us alone, and {gain} us in whatif")


def lines_fit(r):
    """No line is wider than the screen, but for commands, which must stay in one piece."""
    for i, line in enumerate(r.screen.splitlines()):
        most = COLUMNS if i else FIRST_LINE
        command = re.match(r"next: |      strata |     try    ", line)
        r.need(command or len(line) <= most, f"{len(line)} columns: {line}")
    for f in r.data["findings"]:
        r.need(len(f["title"]) <= TITLE_COLUMNS, f"a title of {len(f['title'])}: {f['title']}")


def views_within(r):
    """What other views say lies within the trace, and no share is above the whole."""
    end = end_of(r)
    if not end:
        return
    for s in read_json(r.strata, "steps", r.path).get("steps") or []:
        r.need(s["start_us"] <= end * 1.001 + 1, f"a step starts at {s['start_us']} us of {end} us")
    for name in ("gaps", "stages", "kernels", "steps", "syncs"):
        text = run(r.strata, name, r.path) or ""
        for found in re.finditer(r"(?<![\w.])([\d,]+(?:\.\d+)?) %(?! (?:slower|longer))", text):
            if float(found[1].replace(",", "")) > 100.5:
                line = text[:found.end()].splitlines()[-1]
                r.say(f"{name}: {flat(line)[-90:]}")
        r.need(not re.search(r"[-+]0\.0+ %", text), f"{name}: a signed zero")


def same_as_itself(r):
    """A trace does not differ from itself."""
    told = run(r.strata, "diff", r.path, r.path)
    if told:
        r.need("nothing" in told.partition("what changed")[2][:90], f"diff with itself: {told[:200]}")
        r.need("gone" not in told and " new:" not in told, "diff with itself: something gone or new")


def plain_counts(r):
    for name in ("screen", "full"):
        for found in re.finditer(r"(?<![\d.,:])1 (times|runs|kernels|findings|syncs|changes|calls|"
                                 r"launches|copies|steps|multiplications|stages)\b", getattr(r, name)):
            r.say(f"{name}: {found[0]}")


CHECKS = (one_answer, no_small_fix, parts_and_wholes, percentages, times_within, findings_have_reasons,
          rows_beside_findings, no_advice_against_itself, what_applies, views_agree, hints_work,
          plain_counts, launches_within, limit_fits, page_says_the_same, commands_to_try, gains_alone,
          lines_fit, views_within, same_as_itself)


def check(strata, path):
    """What is wrong with the report of a trace; None where there is none."""
    r = Report(strata, path)
    if r.data is None:
        return None
    for one in CHECKS:
        one(r)
    return r.wrong


def rings(folder, into):
    """Our own recordings, unpacked."""
    for packed in sorted(Path(folder).rglob("*rings.t[gx]z")):
        target = Path(into, packed.name)
        with tarfile.open(packed) as tar:
            tar.extractall(target, filter="data")
        yield target


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strata", required=True)
    parser.add_argument("folders", nargs="+", type=Path)
    args = parser.parse_args()
    times = int(os.environ.get("STRATA_MUTANTS", "1"))
    passed = failed = 0

    def tell(name, wrong):
        nonlocal passed, failed
        if wrong is None:
            return
        passed, failed = passed + (not wrong), failed + bool(wrong)
        for text in wrong[:3]:
            print(f"{name}: {text}", flush=True)

    own = find_traces(args.folders)
    more = [p for f in more_folders() for p in f.rglob("*")
            if p.name.endswith((".xplane.pb", ".rpd.gz", ".sqlite.gz"))]
    for path in own + find_traces(more_folders()) + sorted(more):
        if path.stat().st_size <= LARGEST:
            tell(path, check(args.strata, path))
    with tempfile.TemporaryDirectory() as folder:
        for path in (p for f in args.folders for p in rings(f, folder)):
            tell(path.name, check(args.strata, path))
        for path, trace in small_sources(own):
            for changed, how in mutants(trace, path.name, times):
                file = Path(folder, "mutant.json")
                file.write_text(json.dumps(changed))
                tell(f"{path}, mutant {how}", check(args.strata, file))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
