#!/usr/bin/env python3
"""Builds the documents into a site with search, a page per command, and a gallery of report pages.

    site.py --strata BUILD/src/strata --python PYTHON FOLDER

PYTHON has mkdocs (tools/docs.txt). FOLDER gets `pages`, the documents as the site wants them, and `site`.
The order of the pages is that of docs/index.md. Files outside of docs are not part of the site: a link to
one becomes its path. A link that leads nowhere is an error.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"\[([^\]]*)\]\((?!#|[a-z]+:)([^)\s#]+)(#[^)\s]*)?\)")

# name (docs/images has its picture), title, what there is to see, and the command that makes the page
GALLERY = [
    (
        "attention",
        "Attention that is not fused",
        "One change makes it 14 times faster.",
        ["report", "tests/data/advice/attention_math_stack.json.gz"],
    ),
    (
        "wan",
        "A wait that looks slow and is not",
        "Wan 2.1: the CPU is blocked for 565 ms, and removing that gains 2 ms.",
        ["report", "tests/data/wan/wan_before_compile.json.gz"],
    ),
    (
        "flux2",
        "An image pipeline that is already fast",
        "Flux.2 Klein: the GPU is busy, so the kernels are what is left.",
        ["report", "tests/data/flux2/flux2_before_compile.json.gz"],
    ),
    (
        "diff",
        "Before and after",
        "Two traces aligned by step; the causes add up to the difference.",
        [
            "diff",
            "tests/data/flux2/flux2_before_compile.json.gz",
            "tests/data/flux2/flux2_after_compile.json.gz",
        ],
    ),
    (
        "ranks",
        "One slow rank of four",
        "A row per rank on one clock, and the critical path through them.",
        ["report", "tests/data/comm/slow_rank"],
    ),
    (
        "pingpong",
        "CPU and GPU wait for each other",
        "A short wait in every step costs a quarter of the time.",
        ["report", "tests/data/whatif/pingpong_v0.json.gz"],
    ),
]
PICTURES = {"wan": "report"}  # those whose pictures have another name


def strata(args, *words):
    return subprocess.run(
        [args.strata, *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def rewrite(path, text):
    """A document as the site wants it: what lies outside of docs is named instead of linked."""

    def link(found):
        target = (path.parent / found[2]).resolve()
        if not target.exists():
            raise SystemExit(f"site.py: {path.relative_to(ROOT)}: dead link: {found[2]}")
        if target.is_dir() and (target / "README.md").exists() and DOCS in target.parents:
            return f"[{found[1]}]({found[2].rstrip('/')}/README.md{found[3] or ''})"
        if DOCS in target.parents and not target.is_dir():
            return found[0]
        return (
            f"{found[1]} (`{target.relative_to(ROOT)}`)"
            if str(target.relative_to(ROOT)) != found[1]
            else f"`{found[1]}`"
        )

    return LINK.sub(link, re.sub(r"<!-- given\n.*?-->\n", "", text, flags=re.S))


def copy_documents(pages):
    for path in sorted(DOCS.rglob("*")):
        if path.is_dir() or path.name == "meson.build":
            continue
        to = pages / path.relative_to(DOCS)
        to.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            to.write_text(rewrite(path, path.read_text()))
        else:
            shutil.copyfile(path, to)


def write_commands(args, pages):
    names = [c["name"] for c in json.loads(strata(args, "help", "--json"))["commands"]]
    parts = [f"## {name}\n\n```\n{strata(args, 'help', name).rstrip()}\n```\n" for name in names]
    (pages / "commands.md").write_text(
        "# Commands\n\nWhat `strata help COMMAND` prints.\n\n" + "\n".join(parts)
    )


def write_gallery(args, pages):
    (pages / "gallery").mkdir()
    lines = [
        "# Gallery",
        "",
        "Report pages as the program writes them: click a finding to go through its evidence.",
        "",
    ]
    for name, title, about, words in GALLERY:
        strata(args, *words, "--html", str(pages / "gallery" / f"{name}.html"))
        lines += [
            f"## {title}",
            "",
            about,
            "",
            f"[![{title}](images/{PICTURES.get(name, name)}.png)]"
            f"(gallery/{name}.html){{ target=_blank .gallery }}",
            "",
            f"`strata {' '.join(words)} --html {name}.html`",
            "",
        ]
    (pages / "gallery.md").write_text("\n".join(lines))


def navigation():
    """Sections and pages as docs/index.md lists them."""
    found = [{"Strata": "index.md"}, {"Gallery": "gallery.md"}]
    for section in re.split(r"^## ", (DOCS / "index.md").read_text(), flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        pages = [
            {name[:1].upper() + name[1:]: target}
            for name, target in re.findall(r"\[([^\]]+)\]\(([^)#]+\.md)\)", body)
        ]
        if title == "Reference":
            pages.insert(0, {"Commands": "commands.md"})
        found.append({title: pages})
    return found


def main():
    parser = argparse.ArgumentParser(description="build the site of the documents")
    parser.add_argument("--strata", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--python", required=True, help="a python that has mkdocs")
    parser.add_argument("folder", type=lambda p: Path(p).resolve())
    args = parser.parse_args()
    pages = args.folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    copy_documents(pages)
    write_commands(args, pages)
    write_gallery(args, pages)
    config = {
        "INHERIT": os.path.relpath(ROOT / "mkdocs.yml", args.folder),
        "docs_dir": "pages",
        "site_dir": "site",
        "nav": navigation(),
    }
    (args.folder / "mkdocs.yml").write_text(json.dumps(config, indent=1))  # JSON is YAML, too
    env = dict(os.environ, NO_MKDOCS_2_WARNING="1")
    done = subprocess.run(
        [args.python, "-m", "mkdocs", "build", "--quiet", "--strict", "-f", args.folder / "mkdocs.yml"],
        env=env,
        check=False,
    )
    if done.returncode == 0:
        site = os.path.relpath(args.folder / "site")
        print(f"site: {site}/index.html; with search: python3 -m http.server -d {site}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
