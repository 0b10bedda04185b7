#!/usr/bin/env python3
"""The layer check: reads the #include lines of src/ and fails on one that goes the wrong way, on
modules that include each other in a circle, and on a picture in ARCHITECTURE.md that is not this.

LAYERS is the architecture: a folder may include itself and the folders listed for it. A module is a
.c file and its header; <folder>_private.h declares what only its folder calls, with the structs it
needs declared ahead, so that it includes nothing of its own folder's.
"""
import re
import sys
from pathlib import Path

LAYERS = {
    "base": [],
    "format": ["base"],
    "trace": ["base", "format"],
    "import": ["base", "format", "trace"],
    "export": ["base", "format", "trace"],
    "analyze": ["base", "format", "trace"],
    # Reads lists of modules with the JSON scanner of import; traces reach it ready made.
    "offload": ["base", "format", "trace", "import", "analyze"],
    "tables": ["base", "format", "trace", "export", "analyze"],
    "profiles": ["base", "format", "trace", "export", "analyze"],
    "dive": ["base", "format", "trace", "analyze"],
    "report": ["base", "format", "trace", "analyze", "offload", "dive"],
    "page": ["base", "format", "trace", "export", "analyze", "offload", "dive", "report"],
    # In somebody else's process: nothing of the reader and the analysis may get there.
    "record": ["base", "format"],
    "backend": ["base", "format", "record"],
}
LAYERS["cli"] = list(LAYERS)

# Inside analyze, each folder a subject. Everyone may use what stands at its top: the context, its
# thresholds; but focus, which chooses the part of a recording to look at, uses them.
SUBJECTS = {
    "names": [],
    "device": ["names"],
    "structure": ["names", "device"],
    "steps": ["names", "device", "structure"],
    "comm": ["names", "device", "steps"],
    "stages": ["names", "device", "structure", "steps"],
    "waits": ["names", "device", "steps"],
    "quality": ["names", "device", "steps"],
    "simulate": ["names"],
    "gaps": ["names", "device", "steps", "comm", "waits", "quality", "simulate"],
    "launches": ["names", "device", "steps", "stages"],
    "memory": ["names", "device", "steps", "stages"],
    "ops": ["names"],
    "kernels": ["names", "ops", "simulate"],
}
SUBJECTS["flame"] = ["names", "device", "steps", "waits"]
SUBJECTS["ranks"] = ["names", "device", "structure", "steps", "comm", "stages", "waits", "quality",
                     "simulate", "gaps"]
SUBJECTS["rules"] = [s for s in SUBJECTS if s not in ("ranks", "flame")]
SUBJECTS["compare"] = [s for s in SUBJECTS if s != "flame"]
TOP = {"context": [], "thresholds": [], "focus": list(SUBJECTS)}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
ROOT = Path(__file__).resolve().parent.parent


def includes(src):
    for path in sorted(src.glob("**/*.[ch]")):
        for no, line in enumerate(path.read_text().splitlines(), 1):
            target = INCLUDE.match(line)
            if target and not target[1].startswith("strata/"):
                yield path, no, target[1]


def subject(name):
    """The folder inside analyze, or the module at its top."""
    parts = Path(name).with_suffix("").parts
    return parts[1]


def wrong_layer(path, no, layer, target, src):
    into = target.split("/")[0]
    if not (src / target).exists() and into not in LAYERS:
        yield path, no, f'write the path from src/: "{target}"'
    elif into != layer and into not in LAYERS[layer]:
        yield path, no, f"{layer} must not include {into}"


def wrong_subject(path, no, name, target):
    here, into = subject(name), subject(target)
    if into == here or (into in TOP and into != "focus"):
        return
    allowed = {**SUBJECTS, **TOP}.get(here)
    if allowed is None:
        yield path, no, f"folder 'analyze/{here}' is not a subject; see tools/check_layers.py"
    elif into not in allowed:
        yield path, no, f"analyze/{here} must not include analyze/{into}"


def violations(src):
    for path, no, target in includes(src):
        name = str(path.relative_to(src))
        layer = name.split("/")[0]
        if layer not in LAYERS:
            yield path, 1, f"folder '{layer}' is not a layer; see tools/check_layers.py"
            continue
        yield from wrong_layer(path, no, layer, target, src)
        if layer == "analyze" and target.startswith("analyze/"):
            yield from wrong_subject(path, no, name, target)


def modules(src):
    """Which modules a module includes. A private header may include the header it belongs to."""
    graph = {}
    for path, _, target in includes(src):
        here = str(path.relative_to(src).with_suffix(""))
        into = str(Path(target).with_suffix(""))
        if into != here and here != into + "_private" and (src / target).exists():
            graph.setdefault(here, set()).add(into)
    return graph


def circle(graph):
    """One circle of modules, or None: a walk in depth that meets what is still open."""
    state = {}
    for start in sorted(graph):
        stack = [(start, iter(sorted(graph[start])))] if start not in state else []
        state.setdefault(start, "open")
        while stack:
            here, rest = stack[-1]
            into = next(rest, None)
            if into is None:
                state[here] = "done"
                stack.pop()
            elif state.get(into) == "open":
                names = [name for name, _ in stack]
                return names[names.index(into):] + [into]
            elif into not in state:
                state[into] = "open"
                stack.append((into, iter(sorted(graph.get(into, ())))))
    return None


def picture():
    """The arrows as ARCHITECTURE.md shows them: what a folder uses that its uses do not bring."""
    def rows(table):
        for name, uses in table.items():
            direct = [u for u in uses if not any(u in table[v] for v in uses)]
            yield f"{name:10} <- {' '.join(direct)}".rstrip(" <-") if not direct else \
                f"{name:10} <- {' '.join(direct)}"
    lines = [*rows(LAYERS), "", "inside analyze:", *rows(SUBJECTS)]
    return "\n".join(lines)


def main():
    bad = [f"{path}:{no}: {what}" for path, no, what in violations(ROOT / "src")]
    around = circle(modules(ROOT / "src"))
    if around:
        bad.append("modules include each other: " + " -> ".join(around))
    if f"```\n{picture()}\n```" not in (ROOT / "ARCHITECTURE.md").read_text():
        bad.append("ARCHITECTURE.md: its picture is not this one (tools/check_layers.py --picture)")
    if "--picture" in sys.argv:
        print(picture())
        return 0
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
