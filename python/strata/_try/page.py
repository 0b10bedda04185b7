"""The result as one HTML page: bars of predicted and measured times, the table, the code to
write, and the ladder of the report."""
from __future__ import annotations

from html import escape
from typing import Any

from strata._base.units import duration
from strata._try import screen

STYLE = """:root{color-scheme:light dark;--ink:#1b1f24;--dim:#57606a;--paper:#fff;--line:#d8dee4;
--code:#f3f5f7;--predicted:#a9c1dd;--measured:#1f7a4a;--open:#8aa398;--slower:#b3261e;--whisker:#1b1f24}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#9198a1;--paper:#0d1117;--line:#30363d;
--code:#161b22;--predicted:#3b5b84;--measured:#2f9e5f;--open:#55706a;--slower:#e0554c;--whisker:#e6edf3}}
body{font:15px/1.5 system-ui,sans-serif;max-width:64em;margin:2em auto;padding:0 1em;color:var(--ink);
background:var(--paper)}h1{font-size:1.5em;margin-bottom:0}h2{font-size:1.15em;margin:2em 0 .5em}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
td,th{padding:.35em .7em;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--dim);font-weight:500}td:first-child,th:first-child{text-align:left;padding-left:0}
td:first-child{white-space:normal;overflow-wrap:anywhere;min-width:9em}th.bars,td.bars{width:46%;min-width:15em;
text-align:left;padding-right:0}.plot{position:relative;height:1.9em}
.bar{position:absolute;left:0;border-radius:0 2px 2px 0;min-width:1px}
.predicted{background:var(--predicted)}.measured{background:var(--measured)}.open{background:var(--open)}
.slower{background:var(--slower)}.bar.predicted{top:.1em;height:.5em}
.bar.measured,.bar.open,.bar.slower{top:.75em;height:.9em}
.whole{position:absolute;top:-.35em;bottom:-.35em;border-left:1px dashed var(--dim)}
.whisker{position:absolute;top:.9em;height:.6em;border:solid var(--whisker);border-width:0 1px;
box-sizing:border-box;min-width:3px}.whisker.cut{border-right-width:0}.whisker::before{content:"";position:absolute;left:0;right:0;top:50%;
border-top:1px solid var(--whisker)}.key{display:inline-block;position:static;width:1.2em;
height:.7em;border-radius:2px}.key.whisker{position:relative;top:0;border-radius:0}
pre{background:var(--code);padding:.7em .9em;overflow:auto;border-radius:6px;font-size:.9em}
li{margin:.2em 0}code{white-space:nowrap}.dim{color:var(--dim)}.best{font-size:1.1em}"""


LEGEND = """<p class=dim><span class="key predicted"></span> time per unit that the report
predicts; <span class="key measured"></span> as measured (<span class="key slower"></span> slower,
<span class="key open"></span> no certain change), with its 95 % interval
<span class="key whisker"></span>. The dashed line is the unchanged program. A question mark says that
the difference is not settled: a longer <code>--time</code> may settle it.</p>"""

MOST = 1.6  # of the time as it is, that bars can show


def write(r: dict[str, Any], path: str) -> None:
    with open(path, "w", encoding="utf-8") as f:
        f.write(text(r))


def text(r: dict[str, Any]) -> str:
    """The page."""
    title = f"{r['program']}: {r['unit']['words']}"
    parts = ["<!DOCTYPE html><html lang=en><meta charset=utf-8>",
             '<meta name=viewport content="width=device-width,initial-scale=1">',
             f"<title>{escape(title)}</title><style>{STYLE}</style><h1>{escape(title)}</h1>",
             f"<p class=dim>{escape(_head(r))}</p><p class=best><b>{escape(screen.conclusion(r))}</b></p>",
             *([_bars(r), LEGEND, "<h2>Trials</h2>", _table(r)] if r["fixes"] else []),
             _remarks(r), _code(r), _ladder_of_report(r)]
    return "\n".join(parts)


def _head(r: dict[str, Any]) -> str:
    where = r["machine"].get("device_name") or "CPU"
    each = f"{duration(r['unit']['median_ms'])} each, " if r["unit"]["median_ms"] else ""
    version = f", torch {r['machine']['torch']}" if r["machine"].get("torch") else ""
    n = r["processes"]
    return f"{each}{where}{version}, {n} process{'es' if n != 1 else ''}"


def _bars(r: dict[str, Any]) -> str:
    """What is left of the time with each fix: predicted above measured, with its interval."""
    every = [*r["fixes"], *r["combinations"]]
    top = _top(every)
    rows = ["<h2>Predicted and measured</h2><div class=scroll><table><tr><th>fix<th>predicted<th>measured"
            "<th class=bars>time per unit, beside the unchanged program"]
    for f in every:
        m, predicted = f["measured"], f["predicted_pct"]
        rows.append(f"<tr><td>{escape(f['fix'])}<td>"
                    + (f"-{predicted:.1f} %" if predicted is not None else "-") + "<td>"
                    + (escape(screen.measured_words(m)) if m else
                       screen.failed_words(f) if f["failure"] else "-")
                    + f"<td class=bars>{_plot(predicted, m, top)}")
    return "".join(rows) + "</table></div>"


def _top(every: list[dict[str, Any]]) -> float:
    """The end of the scale, by the time as it is."""
    ends = [1 + v / 100 for f in every if f["measured"]
            for v in (f["measured"]["change_pct"], f["measured"]["high_pct"]) if v is not None]
    return 1.02 * min(max([1.0, *ends]), MOST)


def _plot(predicted: float | None, m: dict[str, Any] | None, top: float) -> str:
    def place(share: float) -> float:
        return 100 * max(0.0, min(share / top, 1.0))

    out = []
    if predicted is not None:
        out.append(f'<div class="bar predicted" style="width:{place(1 - predicted / 100):.1f}%" '
                   f'title="predicted -{predicted:.1f} %"></div>')
    if m is not None:
        kind = {"faster": "measured", "slower": "slower"}.get(m["verdict"], "open")
        out.append(f'<div class="bar {kind}" style="width:{place(1 + m["change_pct"] / 100):.1f}%" '
                   f'title="measured {m["change_pct"]:+.1f} %"></div>')
        if m["low_pct"] is not None and m["high_pct"] is not None:
            low, high = (place(1 + m[end] / 100) for end in ("low_pct", "high_pct"))
            cut = " cut" if 1 + m["high_pct"] / 100 > top else ""
            out.append(f'<div class="whisker{cut}" style="left:{low:.1f}%;width:{high - low:.1f}%" '
                       f'title="{m["low_pct"]:+.1f} to {m["high_pct"]:+.1f} %"></div>')
    return f'<div class=plot>{"".join(out)}<div class=whole style="left:{place(1.0):.1f}%"></div></div>'


def _table(r: dict[str, Any]) -> str:
    rows = ["<div class=scroll><table><tr><th>fix<th>95 % interval<th>before<th>after<th>outputs<th>set-up"]
    for f in [*r["fixes"], *r["combinations"]]:
        m = f["measured"]
        span = "-"
        if m is not None and m["low_pct"] is not None and m["high_pct"] is not None:
            span = f"{m['low_pct']:+.1f} to {m['high_pct']:+.1f} %"
        rows.append(f"<tr><td>{escape(f['fix'])}<td>{span}<td>{duration(f['before_ms'])}<td>"
                    f"{duration(f['median_ms'])}<td>{escape(screen.output_words(f['outputs']))}<td>"
                    f"{escape(screen.set_up_words(f['set_up']))}")
    return "".join(rows) + "</table></div>"


def _remarks(r: dict[str, Any]) -> str:
    lines = []
    for f in [*r["fixes"], *r["combinations"]]:
        if f["failure"] is not None:
            at = f["failure"].get("source") or {}
            where = f" ({at['file']}:{at['line']})" if at.get("file") else ""
            lines.append(f"{f['fix']}: {screen.failed_words(f)}: {f['failure']['reason']}{where}")
    lines += screen.remarks(r)
    return f"<ul>{''.join(f'<li>{escape(line)}' for line in lines)}</ul>" if lines else ""


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
    rows = ["<h2>The ladder of the report</h2><div class=scroll><table><tr><th>rung<th>wall<th>gain"
            "<th>its fixes, measured alone"]
    for rung in r["ladder"]:
        tried = [f"{f['fix']} {screen.measured_words(f['measured'])}" for f in r["fixes"]
                 if f["measured"] is not None and rung.get("rule") and f["rule"] == rung["rule"]]
        rows.append(f"<tr><td>{escape(str(rung.get('name', '')))}<td>"
                    f"{duration(float(rung.get('wall_us') or 0.0) / 1e3)}<td>"
                    f"{float(rung.get('gain_pct') or 0.0):.1f} %<td>{escape(', '.join(tried)) or '-'}")
    return "".join(rows) + "</table></div>"
