#!/usr/bin/env python3
"""The layer check: reads the #include lines of src/ and fails on one that goes the wrong way.

LAYERS is the architecture: a folder may include itself and the folders listed for it.
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
    "dive": ["base", "format", "trace", "analyze"],
    "report": ["base", "format", "trace", "analyze", "offload", "dive"],
    "page": ["base", "format", "trace", "export", "analyze", "offload", "dive", "report"],
    # In somebody else's process: nothing of the reader and the analysis may get there.
    "record": ["base", "format"],
    "backend": ["base", "format", "record"],
}
LAYERS["cli"] = list(LAYERS)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def violations(src):
    for path in sorted(src.glob("**/*.[ch]")):
        layer = path.relative_to(src).parts[0]
        if layer not in LAYERS:
            yield path, 1, f"folder '{layer}' is not a layer; see tools/check_layers.py"
            continue
        for no, line in enumerate(path.read_text().splitlines(), 1):
            target = INCLUDE.match(line)
            if not target or target[1].startswith("strata/"):
                continue
            into = target[1].split("/")[0]
            if not (src / target[1]).exists() and into not in LAYERS:
                yield path, no, f'write the path from src/: "{target[1]}"'
            elif into != layer and into not in LAYERS[layer]:
                yield path, no, f"{layer} must not include {into}"


def main():
    found = list(violations(Path(__file__).resolve().parent.parent / "src"))
    for path, no, what in found:
        print(f"{path}:{no}: {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
