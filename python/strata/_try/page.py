"""The result as one HTML page: the ladder of the report with measured values beside the promised
ones, the table, and the code to write."""
from __future__ import annotations

from html import escape
from typing import Any

from strata._base.units import duration
from strata._try import screen

STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;
color:#1b1f24;background:#fff}table{border-collapse:collapse;width:100%}td,th{padding:.3em .6em;
text-align:right;border-bottom:1px solid #d8dee4}td:first-child,th:first-child{text-align:left}
.bar{height:.8em;min-width:1px}.promised{background:#9db8d9}.measured{background:#1f6f43}
.slower{background:#b3261e}.bars{width:40%}pre{background:#f3f5f7;padding:.6em;overflow:auto}
.key{display:inline-block;width:1.2em;height:.8em}.dim{color:#57606a}@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}
td,th{border-color:#30363d}pre{background:#161b22}.dim{color:#9198a1}.measured{background:#3fb950}
.promised{background:#3b5b84}}"""


LEGEND = """<p class=dim><span class="key promised"></span> what is left of the time if the promise of the
report holds, <span class="key measured"></span> as it was measured. A question mark says that the
difference is not settled: more --time, or --blocks, would show it.</p>"""


def write(r: dict[str, Any], path: str) -> None:
    with open(path, "w", encoding="utf-8") as f:
        f.write(text(r))


def text(r: dict[str, Any]) -> str:
    """The page."""
    title = f"{r['program']}: {r['unit']['words']}"
    parts = [f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{escape(title)}</title>",
             f"<style>{STYLE}</style><h1>{escape(title)}</h1>",
             f"<p>{escape(_head(r))}</p><p><b>{escape(screen.conclusion(r))}</b></p>",
             "<h2>Promised and measured</h2>", _ladder(r), LEGEND,
             "<h2>Trials</h2>", _table(r), _failures(r), _remarks(r), _code(r), _ladder_of_report(r)]
    return "\n".join(parts)


def _head(r: dict[str, Any]) -> str:
    where = r["machine"].get("device_name") or "CPU"
    each = f"{duration(r['unit']['median_ms'])} each, " if r["unit"]["median_ms"] else ""
    return f"{each}{where}, torch {r['machine'].get('torch', '?')}, {r['processes']} processes"


def _bar(kind: str, share: float, words: str) -> str:
    return (f'<div class="bar {kind}" style="width:{max(0.0, min(share, 1.0)) * 100:.1f}%" '
            f'title="{escape(words)}"></div>')


def _ladder(r: dict[str, Any]) -> str:
    """One rung per fix: what is left of the time, promised above measured."""
    rows = ["<table><tr><th>fix<th>promised<th>measured<th class=bars>what is left of the time"]
    for f in [*r["fixes"], *r["combinations"]]:
        m, promised = f["measured"], f["promised_pct"]
        bars = ""
        if promised is not None:
            bars += _bar("promised", 1 - promised / 100, f"promised -{promised:.1f} %")
        if m is not None:
            kind = "slower" if m["verdict"] == "slower" else "measured"
            bars += _bar(kind, 1 + m["change_pct"] / 100, f"measured {m['change_pct']:+.1f} %")
        rows.append(f"<tr><td>{escape(f['fix'])}<td>"
                    + (f"-{promised:.1f} %" if promised is not None else "-") + "<td>"
                    + (escape(screen.measured_words(m)) if m else "failed" if f["failure"] else "-")
                    + f"<td class=bars>{bars}")
    return "".join(rows) + "</table>"


def _table(r: dict[str, Any]) -> str:
    rows = ["<table><tr><th>fix<th>95 % interval<th>time per unit<th>outputs<th>set-up"]
    for f in [*r["fixes"], *r["combinations"]]:
        m = f["measured"]
        span = "-"
        if m is not None and m["low_pct"] is not None:
            span = f"{m['low_pct']:+.1f} to {m['high_pct']:+.1f} %"
        rows.append(f"<tr><td>{escape(f['fix'])}<td>{span}<td>{duration(f['median_ms'])}<td>"
                    f"{escape(screen.output_words(f['outputs']))}<td>"
                    f"{escape(screen.set_up_words(f['set_up']))}")
    return "".join(rows) + "</table>"


def _failures(r: dict[str, Any]) -> str:
    out = []
    for f in [*r["fixes"], *r["combinations"]]:
        if f["failure"] is not None:
            at = f["failure"].get("source") or {}
            where = f" ({at['file']}:{at['line']})" if at.get("file") else ""
            out.append(f"<p>{escape(f['fix'])} failed: {escape(f['failure']['reason'] + where)}</p>")
    return "".join(out)


def _remarks(r: dict[str, Any]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in screen.remarks(r))


def _code(r: dict[str, Any]) -> str:
    if not r["best"]:
        return ""
    out = [f"<h2>What to write for {escape(' + '.join(r['best']))}</h2>"]
    for note in r["code"]:
        at = note["source"]
        where = f"{at['file']}:{at['line']}, in {at['function']}" if at else ""
        body = note["patch"] or "\n".join(note["lines"])
        out.append(f"<p>{escape(note['fix'])} <span class=dim>{escape(where)}</span></p>"
                   f"<pre>{escape(body)}</pre>")
    return "".join(out)


def _ladder_of_report(r: dict[str, Any]) -> str:
    if not r["ladder"]:
        return ""
    rows = ["<h2>The ladder of the report</h2><table><tr><th>rung<th>wall<th>gain"
            "<th>its fixes, measured alone"]
    for rung in r["ladder"]:
        tried = [f"{f['fix']} {screen.measured_words(f['measured'])}" for f in r["fixes"]
                 if f["measured"] is not None and rung.get("rule") and f["rule"] == rung["rule"]]
        rows.append(f"<tr><td>{escape(str(rung.get('name', '')))}<td>"
                    f"{duration(float(rung.get('wall_us') or 0.0) / 1e3)}<td>"
                    f"{float(rung.get('gain_pct') or 0.0):.1f} %<td>{escape(', '.join(tried)) or '-'}")
    return "".join(rows) + "</table>"
