#!/usr/bin/env python3
"""The layer check: reads the #include lines of src/ and fails on one that goes the wrong way, on
modules that include each other in a circle, on small headers that one file alone includes, on comments
that name a source file which is not there, and on a picture in ARCHITECTURE.md that is not this.

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
    "results": ["base", "format", "trace", "analyze"],
    "tables": ["base", "format", "trace", "export", "analyze", "results"],
    "profiles": ["base", "format", "trace", "export", "analyze"],
    "dive": ["base", "format", "trace", "analyze"],
    "report": ["base", "format", "trace", "analyze", "results", "offload", "dive"],
    "page": ["base", "format", "trace", "export", "analyze", "results", "offload", "dive", "report"],
    # In somebody else's process: nothing of the reader and the analysis may get there.
    "record": ["base", "format"],
    "backend": ["base", "format", "record"],
    # Reads the tables of functions as the backend does, of another process.
    "attach": ["base", "backend"],
}
LAYERS["cli"] = list(LAYERS)

# Inside analyze, each folder a subject. Everyone may use what stands at its top: the context, its
# thresholds, what a constant is; but focus, which chooses the part of a recording to look at, uses them,
# and so does the list of all constants.
SUBJECTS = {
    "deep": [],
    "names": ["deep"],
    "device": ["names"],
    "structure": ["names", "device"],
    "steps": ["names", "device", "structure"],
    "comm": ["names", "device", "steps"],
    "stages": ["names", "device", "structure", "steps"],
    "waits": ["names", "device", "steps"],
    "quality": ["names", "device", "steps"],
    "recorded": ["names", "device", "steps", "quality"],
    "simulate": ["names"],
    "gaps": ["names", "device", "steps", "comm", "waits", "quality", "recorded", "simulate"],
    "launches": ["names", "device", "steps", "stages"],
    "memory": ["names", "device", "steps", "stages"],
    "ops": ["deep", "names"],
    "kernels": ["deep", "names", "ops", "simulate"],
    "sequence": ["names", "device", "structure", "steps", "ops", "kernels"],
}
SUBJECTS["flame"] = ["names", "device", "steps", "waits"]
SUBJECTS["ranks"] = ["names", "device", "structure", "steps", "comm", "stages", "waits", "quality",
                     "recorded", "simulate", "gaps"]
SUBJECTS["findings"] = [s for s in SUBJECTS if s not in ("ranks", "flame")]
SUBJECTS["rules"] = [s for s in SUBJECTS if s not in ("ranks", "flame")]
SUBJECTS["answer"] = [s for s in SUBJECTS if s not in ("ranks", "flame")]
SUBJECTS["compare"] = [s for s in SUBJECTS if s != "flame"]
TOP = {"context": [], "thresholds": [], "constants": [], "focus_constants": [], "focus": list(SUBJECTS),
       "rests": ["names"],
       "constants_all": list(SUBJECTS), "tune": ["constants_all"]}
ABOVE = ("focus", "constants_all")

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
    if into == here or (into in TOP and into not in ABOVE):
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


SMALL_HEADER_LINES = 40
NAMED = re.compile(r"(?<![\w/<.*-])([a-z][a-z_0-9]*\.[ch])\b")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
OTHERS_FILES = re.compile(r"cupti_\w+\.h|[a-z]\.[ch]")  # of NVIDIA, of examples


def lonely(root):
    """A small header with one user in its own layer belongs to that user, or to <folder>_private.h."""
    users = {}
    for folder in ("src", "python/src", "tests", "bench"):
        for path, _, target in includes(root / folder):
            users.setdefault(target, set()).add(str(path.relative_to(root)))
    for path in sorted((root / "src").glob("**/*.h")):
        name = str(path.relative_to(root / "src"))
        by = users.get(name, set()) - {f"src/{name[:-2]}.c"}
        if len(by) == 1 and path.read_text().count("\n") <= SMALL_HEADER_LINES:
            user = by.pop()
            if user.startswith(f"src/{name.split('/')[0]}/"):
                yield f"{path}:1: only {user} includes it: declare it there, or in the header of the folder"


def stale_names(root):
    """Source files that comments name and that are not there."""
    paths = [p for folder in ("src", "include", "python/src", "tests")
             for p in sorted((root / folder).glob("**/*.[ch]"))]
    there = {p.name for p in paths} | set(re.findall(r"'(\w+\.c)'", (root / "src/meson.build").read_text()))
    for path in paths:
        text = path.read_text(errors="replace")
        for comment in COMMENT.finditer(text):
            for name in NAMED.findall(comment[0]):
                if name not in there and not OTHERS_FILES.fullmatch(name):
                    no = text.count("\n", 0, comment.start()) + 1
                    yield f"{path}:{no}: names {name}, which is not there"


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
    bad += [*lonely(ROOT), *stale_names(ROOT)]
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
