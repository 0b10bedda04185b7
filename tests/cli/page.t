# One file; what it says goes to standard error.
$ strata report $DATA/tiny.json --html page.html 2>&1 | sed 's/(.*)/(SIZE)/'
| strata: wrote page.html (SIZE): open it in a browser
$ head -c 15 page.html; echo; grep -c 'Content-Security-Policy' page.html
| <!DOCTYPE html>
| 1
$ strata report $DATA/tiny.json --html - | cmp - page.html && echo same
| same
$ STRATA_TEST_THREADS=3 strata report $DATA/tiny.json --html - | cmp - page.html && echo same
| same
$ strata report $DATA/tiny.json --html - --json
! strata: only one output can go to standard output; give --html a file name
? 2
$ strata report $DATA/tiny.json --html page.html --json 2>/dev/null | head -2
| {
|   "wall_us": 290.000,

# The shape of its data: every key, and what stands under it.
$ cat > shape.py <<'END'
> import json, re, sys
> head = json.loads(re.search(r'id="strata-head">([^<]*)<', open(sys.argv[1]).read())[1])
> def kind(v):
>     if isinstance(v, dict): return "{" + ", ".join(v) + "}"
>     if isinstance(v, list): return "[" + (kind(v[0]) if v else "") + "]"
>     return type(v).__name__
> def show(v, under):
>     for key, value in v.items(): print(f"{under}{key}: {kind(value)}")
> show({k: v for k, v in head.items() if k != "sets"}, "")
> docs = {k: v for k, v in head["sets"][0].items() if k != "page"}
> print(" ".join(docs))
> show(head["sets"][0]["page"], "page.")
> END
$ python3 shape.py page.html
| version: int
| kind: str
| title: str
| strata: str
| made: str
| glossary: [{term, also, meaning}]
| columns: {stages, steps, kernels, table, syncs, causes, gaps, gap_causes, ranks, collectives, families}
| rules: {sync_in_loop}
| path headline info report stages steps syncs gaps kernels table launches memory checklist
| page.window: {t0_ns, t1_ns}
| page.detail: {complete, spans, kept}
| page.cut: {}
| page.tracks: [{kind, group, label, thread, device, stream, first, n, depth, main, levels}]
| page.kinds: [str]
| page.families: [str]
| page.hows: [str]
| page.configs: [{grid, block, shared_bytes, registers, occupancy_pct}]
| page.steps: [{index, label, t0_ns, t1_ns, gpu_t0_ns, gpu_t1_ns}]
| page.stages: [{path, name, depth, container, derived}]
| page.counters: [{id, label, unit, device, max, levels, points}]
| page.stories: [{t0_ns, t1_ns, steps, frames}]
| page.sites: [{id, spans, story}]
| page.gaps: [{t0_ns, late_ns, t1_ns, device, prev, next, launch}]
| page.gap_histogram: [{from_us, to_us, count, idle_us}]
| page.columns: {codec, offset, packed_bytes, plain_bytes, list}

# Two traces in one page.
$ strata diff $DATA/tiny.json $DATA/tiny.json --html diff.html 2>&1 | sed 's/(.*)/(SIZE)/'
| strata: wrote diff.html (SIZE): open it in a browser
| strata: both sides are the same file, $DATA/tiny.json
$ python3 shape.py diff.html | grep -E '^(kind|diff|align)'
| kind: str
| diff: {wall, wall_without_profiler, statistics, step, host_late, steps_before, steps_after, changed, parts, stages, labels_lost, kernels_known, syncs_known, kernels, syncs, trace_quality}
| align: {by, pairs}
$ python3 -c "
> import json, re
> head = json.loads(re.search(r'id=\"strata-head\">([^<]*)<', open('diff.html').read())[1])
> a, b = (s['page']['columns'] for s in head['sets'])
> print(head['kind'], b['offset'] == a['packed_bytes'], head['align'])"
| diff True {'by': 'step', 'pairs': [[0, 0], [1, 1]]}

# Names that would like to be more than names.
$ cat > hostile.py <<'END'
> import json
> names = ["</script><script>alert(1)</script>", "<!--", "\"'&`;\\", "@STRATA_COLUMNS@", "x" * 10240,
>          "\u202eright to left", "\U0001f600" * 300, "caf\u00e9\u0000\u0007", ""]
> events = [{"ph": "X", "cat": "cpu_op", "name": n, "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5}
>           for i, n in enumerate(names)]
> text = json.dumps({"traceEvents": events}, ensure_ascii=False).encode()
> open("hostile.json", "wb").write(text.replace(b"caf\xc3\xa9", b"caf\xe9"))
> END
$ python3 hostile.py; strata report hostile.json --html hostile.html 2>/dev/null
$ python3 - <<'END'
> import os, sys
> sys.path.insert(0, os.environ["DATA"] + "/../oracle")
> import page_reader
> text = open("hostile.html", encoding="utf-8").read()
> print(text.count("<script"), text.count("</script>"), text.count("alert(1)"))
> head, (page,) = page_reader.read("hostile.html")
> for i in range(len(page.start)):
>     name = page.name(i)
>     print(ascii(name) if len(name) < 60 else f"{ascii(name[:3])}...{ascii(name[-2:])} {len(name.encode())} bytes")
> END
| 3 3 2
| '</script><script>alert(1)</script>'
| '<!--'
| '"\'&`;\\'
| '@STRATA_COLUMNS@'
| 'xxx'...'x\u2026' 4003 bytes
| '\u202eright to left'
| '\U0001f600\U0001f600\U0001f600'...'\U0001f600\U0001f600' 1200 bytes
| 'caf\ufffd\x00\x07'
| ''

# A page that cannot be written is an error, and leaves nothing behind.
$ strata report $DATA/tiny.json --html no/such/folder/page.html
! strata: no/such/folder/page.html: cannot create: No such file or directory
? 3
$ strata report $DATA/tiny.json --html /dev/full
! strata: /dev/full: cannot write: No space left on device
? 3
$ mkdir d; strata report $DATA/tiny.json --html d
! strata: d: cannot open: Is a directory
? 3
$ strata report $DATA/tiny.json --html
! strata: --html needs a value (FILE); see strata report --help
? 2
$ ls
| d
| diff.html
| hostile.html
| hostile.json
| hostile.py
| page.html
| shape.py
