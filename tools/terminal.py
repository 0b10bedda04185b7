#!/usr/bin/env python3
"""Draws docs/images/terminal.svg: a recording of a terminal in which the commands below are typed.

    terminal.py --strata BUILD/src/strata [--check]

The commands run, with colours, in a terminal of COLUMNS x ROWS, and the picture is made of what they print:
one group per frame, shown in turn by the style sheet, so that it plays wherever a picture is shown.
With --check nothing is written; the exit status is 1 if the file is not what would be written.
"""

import argparse
import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGE = ROOT / "docs/images/terminal.svg"
COLUMNS, ROWS = 100, 22
CELL, LINE, EDGE, TOP = 7.8, 17, 14, 34  # pixels: width of a character, height of a line, margins
TYPING_S, READ_S = 0.12, 6.5  # a few characters; a screen
COMMANDS = [
    "strata report attention.json.gz",
    "strata whatif pingpong.json.gz --drop-sync 1",
]
FILES = {
    "attention.json.gz": "tests/data/advice/attention_math_stack.json.gz",
    "pingpong.json.gz": "tests/data/whatif/pingpong_v0.json.gz",
}
COLORS = {31: "red", 32: "green", 33: "yellow", 34: "blue", 35: "magenta", 36: "cyan"}
STYLE = """text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
text { fill: #d7dde4; white-space: pre; }
.back { fill: #14191f; } .bold { font-weight: 700; } .dim { fill: #8b96a3; }
.red { fill: #ff7b72; } .green { fill: #56d364; } .yellow { fill: #e3b341; } .blue { fill: #79c0ff; }
.magenta { fill: #d2a8ff; } .cyan { fill: #56d4dd; } .prompt { fill: #3fb68b; font-weight: 700; }
.frame { visibility: hidden; }"""


def output(strata, command):
    words = [str(ROOT / FILES[word]) if word in FILES else word for word in command.split()]
    env = dict(os.environ, COLUMNS=str(COLUMNS), LC_ALL="C.UTF-8", TERM="xterm-256color")
    env.pop("NO_COLOR", None)
    done = subprocess.run(
        [strata, *words[1:], "--color", "always"],
        cwd=ROOT,
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    text = done.stdout
    for name, path in FILES.items():
        text = text.replace(str(ROOT / path), name).replace(Path(path).name, name)
    return text.rstrip("\n").split("\n")


def runs(line):
    """(column, text, classes) of each stretch of one colour."""
    column, classes = 0, []
    for part in re.split(r"(\x1b\[[\d;]*m)", line):
        codes = re.fullmatch(r"\x1b\[([\d;]*)m", part)
        if not codes:
            if part.strip():
                yield column, part, " ".join(classes)
            column += len(part)
            continue
        for code in (int(c or 0) for c in codes[1].split(";")):
            plain = code - 60 if code > 90 else code
            name = {1: "bold", 2: "dim", 90: "dim"}.get(code) or COLORS.get(plain)
            if code == 0:
                classes = []
            elif name:
                classes = [*classes, name]


def draw_line(row, line):
    spans = []
    for column, text, classes in runs(line):
        lead = len(text) - len(text.lstrip())
        shown = text.strip()
        x = EDGE + (column + lead) * CELL
        place = f'x="{x:.1f}" textLength="{len(shown) * CELL:.1f}"'
        spans.append(f'<tspan {place} class="{classes}">{escape(shown)}</tspan>')
    return f'<text y="{TOP + row * LINE}">{"".join(spans)}</text>' if spans else ""


def frames(strata):
    """(lines, seconds) of each frame: a command is typed, then what it says stands there."""
    found = []
    for command in COMMANDS:
        prompt = "\x1b[32;1m$\x1b[0m "
        for end in range(0, len(command), 5):
            found.append(([prompt + command[:end] + "█"], TYPING_S))
        found.append(([prompt + command, *output(strata, command)][:ROWS], READ_S))
    return found


def drawing(strata):
    shown = frames(strata)
    whole = sum(seconds for _, seconds in shown)
    width, height = 2 * EDGE + COLUMNS * CELL, TOP + ROWS * LINE
    style, groups, at = [STYLE], [], 0.0
    for number, (lines, seconds) in enumerate(shown):
        begin, end = 100 * at / whole, 100 * (at + seconds) / whole
        at += seconds
        style.append(
            f"@keyframes k{number} {{ 0%, {begin:.3f}% {{ visibility: hidden; }} "
            f"{begin + 0.001:.3f}%, {end:.3f}% {{ visibility: visible; }} "
            f"{end + 0.001:.3f}%, 100% {{ visibility: hidden; }} }}\n"
            f"#f{number} {{ animation: k{number} {whole:.2f}s step-end infinite; }}"
        )
        body = "".join(draw_line(row, line) for row, line in enumerate(lines))
        groups.append(f'<g class="frame" id="f{number}">{body}</g>')
    still = len(shown) // len(COMMANDS) - 1  # what a viewer sees that does not play it
    while shown[still][1] < READ_S:
        still += 1
    style.append(
        "@media (prefers-reduced-motion: reduce) { .frame { animation: none !important; } "
        f"#f{still} {{ visibility: visible; }} }}"
    )
    newline = "\n"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
        f'height="{height}" role="img" aria-label="strata report and strata whatif in a terminal">\n'
        f"<style>\n{newline.join(style)}\n</style>\n"
        f'<rect class="back" width="{width:.0f}" height="{height}" rx="8"/>\n{newline.join(groups)}\n</svg>\n'
    )


def main():
    parser = argparse.ArgumentParser(description="draw the recording of a terminal")
    parser.add_argument("--strata", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    now = drawing(args.strata)
    if args.check:
        return int(not IMAGE.exists() or IMAGE.read_text() != now)
    IMAGE.write_text(now)
    return 0


if __name__ == "__main__":
    sys.exit(main())
