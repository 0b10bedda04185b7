#!/usr/bin/env python3
"""embed_pages.py FOLDER OUT.c OUT.d: a C file that holds the pages of FOLDER as `rule_pages`
(src/report/built_in.h), by the names of their files, and what it depends on."""
import pathlib
import sys


def literal(line):
    text = line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return "".join(c if ord(c) < 128 else "".join(f"\\{b:03o}" for b in c.encode()) for c in text)


def main():
    folder, out, depends = sys.argv[1:]
    pages = sorted(p for p in pathlib.Path(folder).glob("*.md") if p.stem != "README")
    pathlib.Path(depends).write_text(f"{out}: {folder} " + " ".join(map(str, pages)) + "\n", encoding="utf-8")
    with open(out, "w", encoding="ascii") as c:
        c.write('#include <stddef.h>\n\n#include "report/built_in.h"\n\n'
                '#pragma GCC diagnostic ignored "-Woverlength-strings" /* a page may be long */\n\n'
                'const struct rule_page rule_pages[] = {\n')
        for page in pages:
            lines = page.read_text(encoding="utf-8").splitlines()
            c.write(f'    {{"{page.stem}",\n')
            c.writelines(f'     "{literal(line)}\\n"\n' for line in lines)
            c.write("    },\n")
        c.write("    {NULL, NULL},\n};\n")


if __name__ == "__main__":
    main()
