"""Results for people: at most 100 columns, the verdict first, and what to do next at the end."""
from __future__ import annotations

import os
from typing import Any

from strata._base.units import WIDTH, count, duration, percent, shorten, size
from strata.bench.errors import one_line, printable
from strata.bench.signatures import Signature, SignatureFile, brief

LABELS = {"wall": "until done", "gpu": "GPU", "cpu": "CPU until it returns"}
NO_DEVICE = {"wall": "until done", "cpu": "processor time"}
MOST_KERNELS = 6
BOLD, DIM, PLAIN = "\033[1m", "\033[2m", "\033[0m"


class Screen:
    """Lines of text, with colour where it is wanted."""

    def __init__(self, color: bool = False) -> None:
        self.color = color
        self.lines: list[str] = []

    def add(self, text: str = "", style: str = "") -> None:
        for line in wrapped(printable(text)):
            self.lines.append(f"{style}{line}{PLAIN}" if style and self.color else line)

    def command(self, text: str) -> None:
        """A command to copy: never broken."""
        self.lines.append(printable(text))

    def table(self, rows: list[list[str]], first: int = 24) -> None:
        """The first column to the left, cut in its middle, the others to the right."""
        widths = [max(len(r[c]) for r in rows) for c in range(1, len(rows[0]))]
        room = WIDTH - 2 - sum(widths) - 2 * len(widths)
        name = min(max(max(len(r[0]) for r in rows), first), room)
        for r in rows:
            cells = "".join(f"  {cell:>{w}}" for cell, w in zip(r[1:], widths))
            self.lines.append(f"  {shorten(one_line(r[0]), name):<{name}}{cells}".rstrip())

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    """A long line broken at spaces, what follows indented below it."""
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    lines = []
    while len(text) > width:
        cut = text.rfind(" ", len(indent), width + 1)
        if cut <= len(indent):
            break
        lines.append(text[:cut].rstrip())
        text = indent + text[cut:].lstrip()
    return [*lines, text]


def shown(path: str) -> str:
    """A path as people name it from where they are."""
    near = os.path.relpath(path)
    return near if not near.startswith("../../..") else path


def counted(n: int, word: str) -> str:
    """1 tensor, 2 tensors."""
    return f"{n:,} {word}{'s' if n != 1 else ''}"


def interval(t: dict[str, Any]) -> str:
    return f"{duration(t['low_ms'])} - {duration(t['high_ms'])}"


def labels(times: dict[str, Any]) -> dict[str, str]:
    """What the columns of times are called, in the order they are shown."""
    names = LABELS if "gpu" in times else NO_DEVICE
    return {m: names[m] for m in ("gpu", "cpu", "wall") if m in names and m in times}


def times_table(s: Screen, times: dict[str, Any], n: int) -> None:
    """Median, spread, interval and outliers of what was measured."""
    rows = [["", "median", "spread", "95 % interval", "p95", "slowest", "outliers"]]
    for metric, label in labels(times).items():
        if metric in times:
            t = times[metric]
            spread = 100 * t["mad_ms"] / t["median_ms"] if t["median_ms"] else 0.0
            rows.append([label, duration(t["median_ms"]), percent(spread), interval(t),
                         duration(t["p95_ms"]), duration(t["max_ms"]), f"{t['outliers']} of {n}"])
    s.table(rows, 0)


def stage(s: Screen, r: dict[str, Any]) -> None:
    """One stage alone."""
    which = r["signature"]
    several = f", signature {which['index']} of {which['of']}" if which["of"] > 1 else ""
    s.add(f"{r['stage']}   {r['target']}   on {r['device_name']}", BOLD)
    real = "real inputs" if r["inputs"]["from"] != "signature" else "inputs generated from its signature"
    s.add(f"{real}{several}: {counted(r['inputs']['tensors'], 'tensor')}, "
          f"{size(r['inputs']['bytes'])}; {mode_words(r['mode'])}; seed {r['seed']}")
    s.add()
    times_table(s, r["times"], r["measurements"])
    per = f" of {r['batch']} calls each" if r["batch"] > 1 else ""
    s.add(f"  {r['measurements']} measurements{per} after {warm_words(r['warmup'])}")
    for remark in r["remarks"]:
        s.add(f"  {remark}")
    s.add()
    _against(s, r["against"])
    _breakdown(s, r["breakdown"])
    for note in r["notes"]:
        s.add(f"  note: {note}")
    _stage_next(s, r)


def mode_words(mode: dict[str, Any]) -> str:
    kind = "inference mode" if mode.get("inference") else (
        "with gradients" if mode.get("grad", True) else "no gradients")
    cast = ", ".join(f"{k} {v}" for k, v in mode.get("autocast", {}).items())
    return kind + (f", autocast {cast}" if cast else "")


def warm_words(warmup: dict[str, Any]) -> str:
    words = f"{counted(warmup['calls'], 'call')} of warm-up"
    return words if warmup["steady"] else f"{words}, not steady yet"


def _against(s: Screen, found: dict[str, Any]) -> None:
    yes = "the same as in the full run" if found["same"] else "NOT the same as in the full run"
    s.add(f"  {yes}:", BOLD)
    for c in found["checks"]:
        s.add(f"    {check_words(c)}")
    if not any(c["check"] == "kernels" for c in found["checks"]):
        s.add("    kernels not compared: the full run recorded no timeline (strata run --only STAGE)", DIM)
    for note in found["notes"]:
        s.add(f"    {note}")
    s.add()


def check_words(c: dict[str, Any]) -> str:
    """One check in a line."""
    mark = "yes" if c["same"] else "NO "
    if c["check"] == "outputs":
        return f"{mark} outputs: " + (
            c.get("detail") or f"{counted(c['tensors'], 'tensor')} of the same shape")
    if c["check"] == "kernels":
        return f"{mark} {c['of']}: " + (c.get("detail") or f"the same {c['alone']:,}, in the same order")
    words = (f"{mark} {'GPU ' if c['of'] == 'gpu' else ''}time: {duration(c['alone_ms'])}, in the full "
             f"run {duration(c['full_ms'])} ({c['change_pct']:+.1f} %; {c['calls']} calls)")
    own = c.get("full_spread_pct", 0.0)
    if c["same"] and abs(c["change_pct"]) > c["tolerance_pct"] and own > c["tolerance_pct"]:
        words += f", within the {own:.0f} % by which its own calls differ"
    return words + ("; that includes its cold calls" if c["few_calls"] and not c["same"] else "")


def _breakdown(s: Screen, b: dict[str, Any]) -> None:
    if b["families"]:
        rows = [["kernels of one call", "calls", "GPU time", "share"]]
        rows += [[f["family"], count(f["calls"]), duration(f["total_ms"]), percent(f["share_pct"])]
                 for f in b["families"][:MOST_KERNELS]]
        s.table(rows, 44)
        rows = [["slowest kernels", "calls", "GPU time", "share"]]
        rows += [[k["short_name"] or k["name"], count(k["calls"]), duration(k["total_ms"]),
                  percent(k["share_pct"])] for k in b["top_kernels"][:MOST_KERNELS]]
        s.add()
        s.table(rows, 44)
    elif b["top_operators"]:
        total = b["total_self_cpu_ms"]
        rows = [["operators of one call, by their own time", "calls", "CPU time", "share"]]
        rows += [[o["name"], count(o["calls"]), duration(o["self_cpu_ms"]),
                  percent(100 * o["self_cpu_ms"] / total)] for o in b["top_operators"][:MOST_KERNELS]]
        s.table(rows, 44)
    s.add()


def _stage_next(s: Screen, r: dict[str, Any]) -> None:
    s.add(f"files in {shown(os.path.dirname(r['files']['trace']))}: "
          + ", ".join(os.path.basename(p) for p in r["files"].values()))
    trace, program = shown(r["files"]["trace"]), r["files"].get("script")
    s.command(f"next: strata report {trace}")
    if r["device"] != "cpu" and program:
        s.command(f"      strata dive {trace} -- python {shown(program)}")
    elif program:
        s.command(f"      python {shown(program)}")


# ---- several variants ----


def compare(s: Screen, r: dict[str, Any]) -> None:
    """Variants side by side, and a verdict for each against the first."""
    s.add(f"{r['name']}   on {r['device_name']}", BOLD)
    if r["compiled"]:
        how = "repeated blocks of " if r["regional"] else ""
        s.add(f"compiled: {how}{', '.join(r['compiled'])}")
    s.add()
    n = r["variants"][0]["measurements"] // r["best_of"]
    columns = labels(r["variants"][0]["times"])
    rows = [["", *columns.values(), "spread", "warm-up"]]
    for v in r["variants"]:
        t = v["times"][r["metric"]]
        spread = 100 * t["mad_ms"] / t["median_ms"] if t["median_ms"] else 0.0
        rows.append([v["name"], *(duration(v["times"][m]["median_ms"]) for m in columns),
                     percent(spread), f"{v['warmup']['calls']} calls"
                     + ("" if v["warmup"]["steady"] else ", not steady")])
    s.table(rows, 20)
    s.add(f"  medians of {counted(n, 'measurement')}" + (
        " each, taken alternately" if len(rows) > 2 else "") + (
        f"; calls are disturbed, so the best of {r['best_of']} decides"
        if r["best_of"] > 1 else "") + (
        "; processor time decides" if columns.get(r["metric"]) == NO_DEVICE["cpu"] else ""))
    for remark in r["remarks"]:
        s.add(f"  {remark}")
    s.add()
    for c in r["comparisons"]:
        s.add(f"  {c['after']}: {verdict_words(c)}", BOLD)
        _also(s, r, c)
    for d in r.get("diffs", []):
        s.add()
        s.lines += d.get("text", "").rstrip("\n").split("\n")
    _compare_next(s, r)


def verdict_words(c: dict[str, Any]) -> str:
    """The verdict in a sentence."""
    low, high = sorted((c["low_pct"], c["high_pct"]))
    if c["verdict"] == "unknown":
        return f"{c['change_pct']:+.1f} %, but {c['pairs']} measurements are too few for a verdict; " \
               "use --iterations or --time for more"
    span = f"between {low:+.1f} and {high:+.1f} %"
    if c["verdict"] != "no_difference":
        return f"{c['verdict']} by {abs(c['change_pct']):.1f} % ({span}), and more than noise"
    if c["resolution_pct"] <= c["threshold_pct"] + 1e-9:
        return f"no difference ({span}; differences below {c['threshold_pct']:g} % do not count)"
    return f"no difference seen ({span}); {c['pairs']} measurements cannot show one below " \
           f"{c['resolution_pct']:.1f} %; measure longer with --time"


def _also(s: Screen, r: dict[str, Any], c: dict[str, Any]) -> None:
    names = labels(r["variants"][0]["times"])
    others = [f"{names[m]} {found['change_pct']:+.1f} %" for m, found in c["metrics"].items()
              if m != r["metric"]]
    if others:
        s.add(f"    {', '.join(others)}")
    o = c["outputs"]
    if not o["same_shapes"]:
        s.add("    outputs have different shapes: the two do not compute the same")
    elif o["relative_difference"]:
        s.add(f"    outputs differ by {o['relative_difference']:.1e} of the largest value")


def _compare_next(s: Screen, r: dict[str, Any]) -> None:
    traces = r["files"].get("traces")
    if traces:
        s.command(f"next: strata report {shown(traces[-1])}")
    else:
        s.add("next: add --trace to see what changed, kernel by kernel")


# ---- lists ----


def listing(s: Screen, found: SignatureFile) -> None:
    """The stages of a signature file."""
    s.add(f"{shown(found.path)}", BOLD)
    rows = [["stage", "calls", "signatures", "inputs"]]
    notes = []
    names = found.names()
    for path in found.stages:
        signatures = [x for x in found.of_stage(path) if x.path == path]
        if not signatures:
            continue
        first = max(signatures, key=lambda x: x.found.get("count", 0))
        calls = sum(x.found.get("count", 0) for x in signatures)
        name = path.rsplit("/", 1)[-1]
        rows.append([one_line(name if names.count(name) == 1 else path), f"{calls:,}",
                     f"{len(signatures):,}", one_line(_brief_inputs(first))])
        notes += [f"{path}: {', '.join(first.impossible())} cannot be generated; give it with --arg, or "
                  "it is left at its default"] if first.impossible() else []
    widths = [max(len(r[c]) for r in rows) for c in range(3)]
    for r in rows:
        head = f"  {r[0]:<{widths[0]}}  {r[1]:>{widths[1]}}  {r[2]:>{widths[2]}}  "
        s.lines.append((head + _cut(r[3], WIDTH - len(head))).rstrip())
    for note in notes:
        s.add(f"  {note}")
    s.command(f"next: strata bench {shown(found.path)} --stage NAME --entry MODULE:NAME")


def _brief_inputs(signature: Signature) -> str:
    return ", ".join(f"{k} {brief(d)}" for k, d in signature.inputs.items()
                     if not (d["kind"] == "value" and d["value"] is None))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[:max(width - 3, 0)] + "..."
