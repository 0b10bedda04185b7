#!/usr/bin/env python3
"""Words that may stand only in some places of the tree (base/banned.h has those that may stand
nowhere): the raw allocator, printing and exiting in libraries, notes to self, machine paths.

A line that must break a rule says why: /* allowed: the reason */
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SELF = "tools/check_banned.py"
RULES = [
    # (pattern, files it is banned in, files it is allowed in, what to do instead)
    (r"\b(malloc|calloc|realloc|strdup|strndup|asprintf|vasprintf)\s*\(", r"src/", r"src/base/mem\.c",
     "allocate through base/mem.h"),
    (r"(?<![>.\w])free\s*\(", r"src/", r"src/base/mem\.c", "mem_free"),
    (r"\b(exit|_exit|abort|quick_exit)\s*\(", r"src/", r"src/cli/", "libraries return an error"),
    (r"\b(printf|puts|putchar|perror|fprintf|vprintf|vfprintf|fputs)\s*\(", r"src/", r"src/cli/",
     "libraries do not print: fill a buf or a struct err"),
    # one table or helper each, used by all
    (r'"out of memory', r"src/", r"src/(base/(err\.h|file\.c)|dive/ncu_log\.c)", "err_nomem, err_grow"),
    (r"\(hi - lo\) / 2;|\blo \+ hi\b", r"src/.*\.c", r"src/(base/search\.h|import/ring/stack_rows\.c|"
     r"analyze/simulate/undistort\.c)", "SEARCH_PAST of base/search.h"),
    (r"> 0 \? 100(\.0)? \* .* : 0\b", r"src/", r"src/(base/stats\.h|report/compare/view_diff\.c|"
     r"analyze/compare/diff_stats\.c)", "stats_pct of base/stats.h"),
    (r'"[^"]*\b(HtoD|DtoH|H2D|D2H|Pageable|Pinned)\b[^"]*"', r"src/(analyze|offload|dive|report|page|cli)/",
     r"src/(analyze/names/copy\.c|analyze/rules/sync_in_loop\.c)", "copy_of of names/copy.h"),
    (r'"(nccl|rccl|oneccl|hccl|allreduce|all_reduce)[^" ]*"', r"src/(analyze|offload|dive|report|page)/",
     r"src/analyze/names/collective\.c", "names/collective.h"),
    (r'"(aten::)?(_local_scalar_dense|is_nonzero)"', r"src/", r"src/analyze/names/readback\.c",
     "names/readback.h"),
    (r'"(Activity Buffer Request|Buffer Flush|Command Buffer Full)"', r"src/analyze/",
     r"src/analyze/names/overhead\.c", "names/overhead.h"),
    (r'"[^"]*\b(ProfilerStep|Torch-Compiled|CompiledFxGraph|Cache Lookup|triton_|Optimizer\.)[^"]*"',
     r"src/(analyze|dive|tables|profiles)/", r"src/analyze/names/(torch_words\.[ch]|kernel_name\.c)",
     "names/torch_words.h"),
    (r"\* 257 \+", r"src/", r"src/base/intern\.c", "intern_hash, intern_hash_words of base/intern.h"),
    (r"^\s*#define \w*(LEAST|SHARE|TIMES|RATIO|_NS|[A-Z]_PCT|REACHES)\w* +[\d.(]", r"src/analyze/",
     r"src/analyze/(.*_constants\.h|compare/consistency\.c)",
     "a number that decides is a row of <subject>_constants.h"),
    (r"strcmp\([^)]*rule->id|str_is\([^)]*rule->id", r"src/", r"src/analyze/rules/rules\.c",
     "declare .yields_to, .claims or .silent_after (findings/rule.h)"),
    (r"\b(qsort|map_at|stats_(sort|median|scatter))\(|\.\w*(ns|bytes) \+=", r"src/report/",
     r"src/report/lists/(stage_pick|view_flame|view_table)\.c",
     "a pass computes, a view shows; they pick rows"),
    (r"\breg(comp|exec)\(", r"src/", r"src/base/pattern\.c", "base/pattern.h, which refuses what never ends"),
    (r"\bfile_map\(", r"src/(format|import/ring|page|tables|record)/", None,
     "file_map_found: what lies in a folder may be a pipe"),
    (r"\b(TODO|FIXME|XXX|HACK)\b", r".*", SELF, "finish it or leave it out"),
    (r"(/work/|/root/|/tmp/t/)", r".*", SELF, "no machine paths"),
    (r"\t", r".*\.(c|h|py|sh|build|md)$", None, "blanks, not tabs"),
    (r"[ \t]+$", r".*\.(c|h|py|sh|build|md)$", None, "blanks at the end of the line"),
]


def files():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                         capture_output=True, text=True).stdout
    skip = re.compile(r"tests/data/|tests/fuzz/corpus/|\.(png|gz|zst|strata|sqlite)$|LICENSE")
    return [f for f in out.splitlines() if not skip.search(f) and (ROOT / f).is_file()]


def strip_comments(name, text):
    """C comments blanked out, lines kept: words there are prose, not calls."""
    if not name.endswith((".c", ".h")):
        return text
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]) + "", text, flags=re.S)


def violations(name):
    text = (ROOT / name).read_text(errors="replace")
    code = strip_comments(name, text).splitlines()
    for pattern, banned, allowed, instead in RULES:
        if not re.match(banned, name) or (allowed and re.match(allowed, name)):
            continue
        in_code = banned.startswith("src/")
        for no, line in enumerate(text.splitlines(), 1):
            hit = re.search(pattern, code[no - 1] if in_code else line)
            if hit and "allowed:" not in line:
                yield f"{name}:{no}: {hit[0].strip() or 'blank'}: {instead}"


def wrong_guard(name):
    """A header's guard is its path: one that is not tells of a file that was moved."""
    if not (name.startswith("src/") and name.endswith(".h")):
        return
    guard = re.search(r"^#ifndef (\w+)\n#define \1$", (ROOT / name).read_text(), re.M)
    wanted = "STRATA_" + re.sub(r"\W", "_", name[len("src/"):]).upper()
    if guard and guard[1] != wanted:
        yield f"{name}: its guard is {guard[1]}, not {wanted}"


def main():
    found = [v for name in files() for v in (*violations(name), *wrong_guard(name))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
