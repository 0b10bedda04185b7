"""The code to write for a fix: the lines, where they go, and a patch where it is one place."""
from __future__ import annotations

import ast
import difflib
import os
from typing import Any

from strata._try.fixes import Note, parse
from strata._try.trial import Trial


def advice(spec: str, trial: Trial, unit: str) -> list[dict[str, Any]]:
    """What to change for one fix: [{"lines", "source", "patch"}]."""
    fix = parse(spec)
    written = trial.targets.get(spec, fix.module)
    site = trial.sites.get(spec) or {}
    out = []
    seen = {"device": trial.machine.get("device", "cpu"), "trains": unit.startswith("step:optimizer"),
            "call": site.get("call", ""), "by": site.get("by", ""), **trial.of_module.get(spec, {})}
    for note in fix.code(written, seen):
        where = site or trial.sites.get(unit) or {}
        patch, at = _patch(note, site, where)
        source = {"file": where.get("file"), "line": at or where.get("line"),
                  "function": where.get("function")} if where.get("file") else None
        out.append({"fix": spec, "lines": note.text, "source": source, "patch": patch})
    return out


def _patch(note: Note, site: dict[str, Any], where: dict[str, Any]) -> tuple[str | None, int | None]:
    """(unified diff, line); None where it takes more than one place."""
    path = where.get("file")
    try:
        with open(str(path), encoding="utf-8") as f:
            source = f.read()
        tree = ast.parse(source)
    except (OSError, ValueError, SyntaxError):
        return None, None
    lines = source.splitlines(keepends=True)
    at: int | None = None
    if note.call and site.get("line"):
        changed, at = _changed_call(tree, lines, site, note.call), int(site["line"])
    elif note.remove and site.get("line"):
        changed, at = _without(tree, lines, int(site["line"])), int(site["line"])
    elif note.after:
        changed, at = _inserted(tree, lines, note, int(where.get("line") or 0))
    else:
        return None, None
    if changed is None:
        return None, at
    name = os.path.relpath(str(path))
    return "".join(difflib.unified_diff(lines, changed, f"a/{name}", f"b/{name}", n=1)), at


def _changed_call(tree: ast.AST, lines: list[str], site: dict[str, Any],
                  wanted: dict[str, Any]) -> list[str] | None:
    """A call on one line with other keywords."""
    line = int(site["line"])
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or 0) and (
                _called(node) == site.get("call")):
            break
    else:
        return None
    if node.lineno != node.end_lineno:
        return None
    drop = {*wanted.get("drop", []), *wanted.get("set", {})}
    text = lines[node.lineno - 1]
    raw = text.encode()

    def written(part: ast.expr) -> str:  # as the user has written it: 1e-3, not 0.001
        return raw[part.col_offset:part.end_col_offset].decode()

    function = written(node.func)
    kept = [written(a) for a in node.args] + [
        (f"{k.arg}=" if k.arg else "**") + written(k.value)
        for k in node.keywords if k.arg not in drop]
    kept += [f"{k}={v}" for k, v in wanted.get("set", {}).items()]
    new = f"{function}({', '.join(kept)})".encode()
    line_bytes = raw[:node.col_offset] + new + raw[node.end_col_offset:]
    return [*lines[:node.lineno - 1], line_bytes.decode(), *lines[node.lineno:]]


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _without(tree: ast.AST, lines: list[str], line: int) -> list[str] | None:
    """Without the statement on a line, if it is only that call and not alone in its block."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            for s in block if isinstance(block, list) and len(block) > 1 else ():
                if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and (
                        s.lineno == s.end_lineno == line):
                    text = lines[line - 1].strip()
                    if ast.unparse(s) == text:
                        return [*lines[:line - 1], *lines[line:]]
    return None


def _inserted(tree: ast.AST, lines: list[str], note: Note,
              before: int) -> tuple[list[str] | None, int | None]:
    """With the lines after what they need: the import, or the last assignment of a name."""
    found: Any = None
    for node in ast.walk(tree):
        if note.after == "import torch":
            if isinstance(node, ast.Import) and any(a.name == "torch" for a in node.names):
                found = node if found is None else found
        elif isinstance(node, ast.Assign) and any(
                ast.unparse(t) == note.after.split(".")[0] for t in node.targets) and (
                not before or node.lineno <= before):
            found = node if found is None or node.lineno > found.lineno else found
    if found is None or found.end_lineno is None:
        return None, None
    first = lines[found.lineno - 1]
    indent = first[:len(first) - len(first.lstrip())]
    end = found.end_lineno
    new = [f"{indent}{text}\n" for text in note.text if not text.startswith("#")]
    return [*lines[:end], *new, *lines[end:]], end + 1
