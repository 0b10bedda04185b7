#!/usr/bin/env python3
"""Draws docs/images/figures.svg, the three charts of the README, from the CSV files that hold the figures.

    figures.py [--check]

With --check nothing is written; the exit status is 1 if the file is not what would be written.
"""

import csv
import re
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGE = ROOT / "docs/images/figures.svg"
LABEL, BAR, VALUE, ROW, GAP = 170, 380, 140, 24, 34  # pixels: columns, height of a row, space above a chart
STYLE = """text { font: 13px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 14px; }
.ours { fill: #1a7f5a; } .others { fill: #afb8c1; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; }
  .ours { fill: #3fb68b; } .others { fill: #6e7681; } }"""


def rows(file):
    with open(ROOT / "bench" / file, newline="") as f:
        return list(csv.DictReader(f))


def number(text):
    return float(re.match(r"[-+]?[\d.]+", text)[0])


def reading():
    """Seconds for 1 GB of JSON, by tool."""
    names = {
        "strata table": "Strata",
        "simdjson On-Demand, 1 thread": "simdjson",
        "Python json": "Python json",
        "Perfetto trace_processor": "Perfetto",
        "HolisticTraceAnalysis": "HTA",
    }
    found = [
        (names[r["tool"]], number(r["seconds"]), f"{number(r['seconds']):.2f} s")
        for r in rows("results.csv")
        if r["input"] == "1 GB" and r["tool"] in names
    ]
    return "Reading 1 GB of JSON, two cores", sorted(found, key=lambda bar: bar[1])


def overhead():
    """Percent added to CPU-bound eager programs by each profiler."""
    programs = {"sdxl": "SDXL's UNet", "generate": "generate", "train": "training"}
    found = []
    for key, title in programs.items():
        for tool, name in (("timeline", "Strata"), ("torch.profiler", "torch.profiler")):
            value = next(
                number(r["value"])
                for r in rows("capture.csv")
                if r["what"].startswith(f"{key}: added by {tool},")
            )
            found.append((f"{name}, {title}", value, f"+{value:.1f} %"))
    return "Recording CPU-bound eager programs: time added on an H200", found


def advice():
    """How many reports on programs with a known fix were right."""
    counted = [r for r in rows("advice/advice.csv") if r["counted"] == "yes"]
    broken = [r for r in counted if r["kind"] != "healthy"]
    healthy = [r for r in counted if r["kind"] == "healthy"]

    def bar(title, of, column):
        right = sum(r[column] == "yes" for r in of)
        return title, 100 * right / len(of), f"{right} of {len(of)}"

    return "Reports that are right", [
        bar("fix first or second", broken, "ok_rank"),
        bar("gain", broken, "ok_gain"),
        bar("healthy: no alarm", healthy, "ok_rank"),
    ]


def chart(top, title, bars, ours):
    most = max(value for _, value, _ in bars)
    out = [f'<text class="title" x="0" y="{top - 10}">{escape(title)}</text>']
    for at, (name, value, shown) in enumerate(bars):
        y = top + at * ROW
        width = max(2, BAR * value / most)
        kind = "ours" if ours(name) else "others"
        out.append(
            f'<text x="{LABEL - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="{kind}" x="{LABEL}" y="{y + 3}" width="{width:.1f}" height="{ROW - 7}" rx="2"/>'
            f'<text x="{LABEL + width + 6:.1f}" y="{y + 15}">{escape(shown)}</text>'
        )
    return out, top + len(bars) * ROW + GAP


def drawing():
    body, top = [], GAP
    for (title, bars), ours in (
        (reading(), lambda n: n == "Strata"),
        (overhead(), lambda n: n.startswith("Strata")),
        (advice(), lambda n: True),
    ):
        lines, top = chart(top, title, bars, ours)
        body += lines
    size = f'width="{LABEL + BAR + VALUE}" height="{top - GAP + 10}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            f"<style>{STYLE}</style>",
            *body,
            "</svg>",
            "",
        ]
    )


def main():
    if sys.argv[1:] == ["--check"]:
        return 0 if IMAGE.exists() and IMAGE.read_text() == drawing() else 1
    IMAGE.write_text(drawing())
    return 0


if __name__ == "__main__":
    sys.exit(main())
