#!/usr/bin/env python3
"""build.py ESBUILD OUT.html: bundles the viewer into one page with two empty places for data.

The script and the style sheet are inlined; the content security policy names them by their hash, so
nothing else on the page can run, whatever a trace is called.
"""
import base64
import hashlib
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def bundle(esbuild, entry, *options):
    done = subprocess.run([esbuild, str(HERE / entry), "--bundle", "--minify", "--charset=utf8",
                           "--log-level=warning", *options], check=True, capture_output=True)
    sys.stderr.buffer.write(done.stderr)
    return done.stdout.decode().strip()


def source_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def main():
    esbuild, out = sys.argv[1:]
    script = bundle(esbuild, "src/main.ts", "--format=iife", "--target=es2020")
    style = bundle(esbuild, "style/main.css", "--target=chrome100,firefox100")
    assert "</script" not in script and "</style" not in style
    policy = ("default-src 'none'; base-uri 'none'; form-action 'none'; "
              f"script-src {source_hash(script)}; style-src {source_hash(style)}; img-src data:")
    page = (HERE / "page.html").read_text(encoding="utf-8")
    for key, value in (("POLICY", policy), ("STYLE", style), ("SCRIPT", script)):
        page = page.replace(f"%{key}%", value, 1)
    pathlib.Path(out).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
