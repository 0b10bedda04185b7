# Every key that is written is explained in docs/format/json.md.
$ cat > keys.py <<'EOF'
> import json, sys
> def keys(v):
>     if isinstance(v, dict):
>         for k, w in v.items():
>             yield k
>             yield from keys(w)
>     elif isinstance(v, list):
>         for w in v: yield from keys(w)
> written = open(sys.argv[1]).read()
> print(sorted(k for k in set(keys(json.load(sys.stdin))) if f"`{k}" not in written and f"## {k}" not in written))
> EOF
$ for view in report steps stages launches memory; do
>   for trace in wan/wan_before_compile.json.gz matmul_add/64_bf16_cold_eager.json.gz comm/slow_rank/rank0.json; do
>     strata $view $DATA/$trace --json | python3 keys.py $DATA/../../docs/format/json.md
>   done
> done
| []
| []
| []
| []
| []
| []
| []
| []
| []
| []
| []
| []
| []
| []
| []
$ cat > schema_keys.py <<'EOF'
> import json, sys, pathlib
> folder = pathlib.Path(sys.argv[1])
> written = (folder / "json.md").read_text()
> def keys(s):
>     yield from s.get("properties", {})
>     for v in [*s.get("properties", {}).values(), *([s["items"]] if s.get("items") else [])]: yield from keys(v)
> for f in sorted((folder / "schema").glob("*.json")):
>     print(f.name.split(".")[0], sorted(k for k in set(keys(json.loads(f.read_text()))) if f"`{k}" not in written and f"## {k}" not in written))
> EOF
$ python3 schema_keys.py $DATA/../../docs/format
| check []
| checklist []
| compare []
| diff []
| dive []
| gaps []
| info []
| kernels []
| launches []
| lint []
| memory []
| offload []
| ranks []
| report []
| run []
| stages []
| steps []
| syncs []
| table []
| whatif []
$ { strata dive $DATA/dive/kernels.json.gz --ncu $DATA/dive/h200_raw.csv --json; } | python3 keys.py $DATA/../../docs/format/json.md
| []
$ strata dive $DATA/dive/h200_details.csv --json | python3 keys.py $DATA/../../docs/format/json.md
| []
$ strata ranks $DATA/comm/slow_rank --json | python3 keys.py $DATA/../../docs/format/json.md
| []
