# Every key that is written is explained in docs/format/json.md.
$ cat > keys.py <<'EOF'
> import json, re, sys
> def keys(v):
>     if isinstance(v, dict):
>         for k, w in v.items():
>             yield k
>             if k != "thresholds": yield from keys(w)
>     elif isinstance(v, list):
>         for w in v: yield from keys(w)
> written = open(sys.argv[1]).read()
> print(sorted(k for k in set(keys(json.load(sys.stdin))) if not re.search(rf"[`.]{re.escape(k)}\b", written)))
> EOF
$ for view in report steps stages "gaps --launches" memory; do
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
$ { strata dive $DATA/dive/kernels.json.gz --ncu $DATA/dive/h200_raw.csv --json; } | python3 keys.py $DATA/../../docs/format/json.md
| []
$ strata dive $DATA/dive/h200_details.csv --json | python3 keys.py $DATA/../../docs/format/json.md
| []
$ strata report $DATA/comm/slow_rank --json | python3 keys.py $DATA/../../docs/format/json.md
| []
