#!/usr/bin/env python3
"""The layer check of the Python package: reads every import of python/strata, those inside functions
too, and fails on one that goes the wrong way.

LAYERS is the architecture: a folder or module of the top may import itself and those listed for it.
"""
import ast
import sys
from pathlib import Path

LAYERS = {
    "_base": [],
    "_timeline": ["_base"],
    "_record": ["_base", "_timeline"],
    "_pipeline": ["_base", "_record"],
    "memory": ["_base"],
    "_report": ["_base", "_timeline", "_record", "memory"],
    "_switch": ["_base", "_timeline", "_record", "_pipeline", "_report"],
    "mock": ["_pipeline"],
    "ceilings": [],
    "offload": [],
    "sql": [],
    "fleet": ["_base"],
    "bench": ["_base", "_record", "_pipeline", "mock"],
    "_try": ["_base", "bench"],
    # These two see the package as programs do, and more.
    "__init__": ["_base", "_timeline", "_record", "_pipeline", "_report", "_switch", "memory"],
    "telefuser": ["__init__", "_base", "_timeline", "_record", "_pipeline", "_report", "memory", "mock",
                  "bench"],
    # Runs in every Python under `strata run`: the package is imported only when it is needed.
    "_inject": ["__init__", "_try"],
}


def imported(tree):
    """(line, part of the package) of every import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(a.name.split(".") + ["__init__"])[:2] for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            names = [["strata", f"{'.' * node.level}{node.module or ''}"]]
        elif isinstance(node, ast.ImportFrom):
            words = (node.module or "").split(".")
            names = [(words + [a.name])[:2] for a in node.names]
        else:
            continue
        for package, part in names:
            if package == "strata" and part != "_strata":  # that is the extension
                yield node.lineno, part


def violations(top):
    for path in sorted(top.glob("**/*.py")):
        layer = path.relative_to(top).with_suffix("").parts[0]
        if layer not in LAYERS:
            yield path, 1, f"'{layer}' is not a layer; see tools/check_python_layers.py"
            continue
        for line, part in imported(ast.parse(path.read_text(encoding="utf-8"))):
            if part != layer and part not in LAYERS[layer]:
                yield path, line, f"{layer} must not import {part}"


def main():
    found = list(violations(Path(__file__).resolve().parent.parent / "python" / "strata"))
    for path, line, what in found:
        print(f"{path}:{line}: {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
