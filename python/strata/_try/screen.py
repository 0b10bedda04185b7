"""The result for people: the table, what to do, and the code for it."""
from __future__ import annotations

import math
from typing import Any

from strata._base.units import duration
from strata._try import fixes, judge
from strata._try.kinds import AS_IT_IS
from strata.bench.screen import BOLD, Screen, counted, shown


def result(s: Screen, r: dict[str, Any]) -> None:
    """All of it."""
    machine = r["machine"]
    where = machine.get("device_name") or "CPU"
    s.add(f"{r['program']}   {r['unit']['words']}"
          + (f", {duration(r['unit']['median_ms'])} each" if r["unit"]["median_ms"] else "")
          + f"   on {where}" + (f"   torch {machine['torch']}" if machine.get("torch") else ""), BOLD)
    if r["interrupted"]:
        s.add("stopped before the end: this is what is known so far")
    s.add()
    _table(s, r)
    for f in [*r["fixes"], *r["combinations"]]:
        if f["failure"] is not None:
            _failure(s, f)
    _remarks(s, r)
    _best(s, r)
    s.add()
    n = r["processes"]
    s.command(f"files: {shown(r['folder'])}   ({n} process{'es' if n != 1 else ''})")
    _next(s, r)


def _table(s: Screen, r: dict[str, Any]) -> None:
    rows = [["fix", "predicted", "measured", "95 % interval", "outputs", "set-up"]]
    for f in [*r["fixes"], *r["combinations"]]:
        rows.append(_row(f))
    if len(rows) > 1:
        s.table(rows, 20)
    else:
        known = r["predictions_from"] is not None and not r["notes"] and not r["not_tried"]
        why = ": the report names none that can be applied from outside" if known else ""
        if not r["notes"] and not r["not_tried"] and not known:
            why = ": without a recording no report names one"
        s.add("  no fix was tried" + why)
        if why:
            s.add("  --fix NAME tries one anyway; --list shows all of them")


def _row(f: dict[str, Any]) -> list[str]:
    predicted = f"-{f['predicted_pct']:.1f} %" if f["predicted_pct"] is not None else "-"
    if f["failure"] is not None:
        return [f["fix"], predicted, failed_words(f), "", "", ""]
    m = f["measured"]
    if m is None:
        return [f["fix"], predicted, "-", "", "", ""]
    span = f"{m['low_pct']:+.1f} to {m['high_pct']:+.1f} %" if m["low_pct"] is not None else "unknown"
    return [f["fix"], predicted, measured_words(m), span, output_words(f["outputs"]),
            set_up_words(f["set_up"])]


def failed_words(f: dict[str, Any]) -> str:
    """Why there is no figure: it failed, or there was nothing to change."""
    return "already so" if f["failure"].get("already") else "failed"


def is_open(m: dict[str, Any]) -> bool:
    return judge.is_open(m["verdict"], m["low_pct"], m["high_pct"])


def measured_words(m: dict[str, Any]) -> str:
    """The change with its verdict."""
    if m["verdict"] in ("faster", "slower"):
        return f"{m['change_pct']:+.1f} %"
    return f"{m['change_pct']:+.1f} % ?" if is_open(m) else "no gain"


def output_words(o: dict[str, Any]) -> str:
    """same, close with how close, different."""
    if o["verdict"] == "unknown":
        return "vary" if o.get("why") else "-"
    if o["verdict"] == "same" or o.get("relative") is None:
        return o["verdict"]
    if o.get("psnr_db") is not None:
        return f"{o['verdict']} {o['psnr_db']:.0f} dB"
    if o.get("kind") == "int":
        return f"{o['verdict']} {o['equal_pct']:.0f} % equal"
    return f"{o['verdict']} {o['relative']:.0e}"


def set_up_words(x: dict[str, Any]) -> str:
    if x["seconds"] is None or x["seconds"] < 0.05:
        return "-"
    return duration(x["seconds"] * 1e3)


def _failure(s: Screen, f: dict[str, Any]) -> None:
    s.add(f"  {f['fix']}: {failed_words(f)}: {f['failure']['reason']}")
    source = f["failure"].get("source")
    if source and source.get("file"):
        s.add(f"    at {shown(source['file'])}:{source['line']}, in {source['function']}")


def _remarks(s: Screen, r: dict[str, Any]) -> None:
    lines = remarks(r)
    if lines:
        s.add()
    for line in lines:
        s.add(f"  {line}")


def remarks(r: dict[str, Any]) -> list[str]:
    """What the table cannot say."""
    lines = []
    for f in [*r["fixes"], *r["combinations"]]:
        pays = f["set_up"].get("pays_after")
        if pays and f["measured"] and f["measured"]["verdict"] == "faster":
            lines.append(f"{f['fix']}: its set-up pays for itself after {counted(pays, 'unit')}"
                         + (f"; with cached compiled code it takes {duration(f['set_up']['again_s'] * 1e3)}"
                            if (f["set_up"]["again_s"] or math.inf) < f["set_up"]["seconds"] * 0.8
                            else ""))
        o = f["outputs"]
        if o["verdict"] == "different":
            lines.append(f"{f['fix']} changes the results: " + difference_words(o))
        elif o["verdict"] == "close":
            lines.append(f"{f['fix']} changes numerics: {difference_words(o)}")
        elif o.get("why"):
            lines.append(f"{f['fix']}: outputs cannot be judged: {o['why']}")
    lines += r["notes"]
    if r["not_tried"]:
        lines.append(f"not tried: {', '.join(r['not_tried'])}")
    return list(dict.fromkeys(lines))


def difference_words(o: dict[str, Any]) -> str:
    """How two results differ."""
    if o.get("why"):
        return str(o["why"])
    if o.get("kind") == "text":
        return "the text differs"
    if o.get("kind") == "int":
        return f"{o['equal_pct']:.1f} % of the integers are equal; the first that differs is number " \
               f"{o['first_difference'] + 1:,}"
    psnr = f", PSNR {o['psnr_db']:.1f} dB" if o.get("psnr_db") is not None else ""
    return f"largest difference {o['largest']:.2g}, mean {o['mean']:.2g}, {o['relative']:.1e} of the " \
           f"norm{psnr}"


def _best(s: Screen, r: dict[str, Any]) -> None:
    words = conclusion(r)
    if words:
        s.add()
        s.add("  " + words, BOLD)
    for note in r["code"]:
        _code(s, note)


def conclusion(r: dict[str, Any]) -> str:
    """The best fix, or that none is known to be faster."""
    for f in [*r["fixes"], *r["combinations"]] if r["best"] else ():
        if f["specs"] == r["best"]:
            before, after = f["before_ms"], f["median_ms"]
            times = f": {duration(before)} -> {duration(after)}" if before and after else ""
            return f"best: {f['fix']}{times} ({f['measured']['change_pct']:+.1f} %)"
    unsettled = [f["fix"] for f in r["fixes"] if f["measured"] and is_open(f["measured"])]
    if r["fixes"] and all(f["failure"] and f["failure"].get("already") for f in r["fixes"]):
        return "nothing to try: the program does all of this already"
    if unsettled:
        return f"no gain is certain yet; a longer --time may settle {', '.join(unsettled)}"
    return "none of the fixes makes it faster" if r["fixes"] else ""


def _code(s: Screen, note: dict[str, Any]) -> None:
    at = note["source"]
    s.add(f"  {note['fix']}" + (
        f": {shown(at['file'])}:{at['line']}, in {at['function']}" if at else ""))
    if note["patch"]:
        for line in note["patch"].rstrip("\n").split("\n"):
            s.command(f"      {line}")
    else:
        for line in note["lines"]:
            s.command(f"      {line}")


def _next(s: Screen, r: dict[str, Any]) -> None:
    lines = [_diff(r), f"strata report {shown(r['predictions_from'])}   what the fixes are for"
             if r["predictions_from"] else "",
             "strata try --history   how good predictions have been on this machine"]
    for k, line in enumerate(filter(None, lines)):
        s.command(("next: " if k == 0 else "      ") + line)


def _diff(r: dict[str, Any]) -> str:
    """The command that compares the unchanged program with the best fix, or with the first that was
    measured; "" where there is none."""
    tried = [f for f in [*r["fixes"], *r["combinations"]] if f["measured"]]
    tried.sort(key=lambda f: f["specs"] != r["best"])
    pair = [r["recordings"].get(name) for name in (AS_IT_IS, tried[0]["fix"] if tried else "")]
    folder = shown(r["folder"])
    if all(pair):
        return f"strata diff {shown(str(pair[0]))} {shown(str(pair[1]))}"
    if tried and tried[0]["switched"]:
        at = f"{folder}/{tried[0]['switched'][0]}"
        return f"strata diff {at}/without {at}/with"
    if tried and tried[0]["trials"] and r["baseline"]["trials"]:
        return f"strata diff {folder}/{r['baseline']['trials'][0]} {folder}/{tried[0]['trials'][0]}"
    return ""


def listing(s: Screen) -> None:
    """All fixes."""
    for cls in fixes.ALL:
        s.add(cls.name + (f":{cls.takes}" if cls.takes else ""), BOLD)
        s.add(f"  {cls.changes}")
        s.add(f"  safe: {cls.safe}")
        s.add(f"  may change in the results: {cls.results}")


def history(s: Screen, rows: list[dict[str, Any]], groups: list[dict[str, Any]], path: str) -> None:
    """Predicted against measured."""
    if not rows:
        s.add(f"no predictions have been measured yet ({path})")
        return
    table = [["fix", "predicted", "measured", "off by", "outputs", "program"]]
    for row in rows[-40:]:
        off = row["measured_pct"] - row["predicted_pct"]
        mark = "" if row["settled"] else " ?"
        table.append([str(row["fix"]), f"{row['predicted_pct']:+.1f} %",
                      f"{row['measured_pct']:+.1f} %{mark}", f"{off:+.1f}{mark}",
                      str(row.get("outputs", "")), str(row.get("program", ""))[:24]])
    s.table(table, 20)
    s.add()
    table = [["by fix", "trials", "median off by", "worst"]]
    for g in groups:
        table.append([g["fix"], str(g["trials"]), f"{g['median_error_points']:+.1f} points",
                      f"{g['worst_distance_points']:.1f}"])
    if groups:
        s.table(table, 20)
    if any(not row["settled"] for row in rows):
        s.add("  ?: not settled by its trial, and left out of the figures by fix")
    s.add("  off by: measured minus predicted, in percentage points; negative is more gain than predicted")
    s.add(f"  from {path}; nothing is uploaded")
