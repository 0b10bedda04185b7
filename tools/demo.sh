#!/bin/sh
# demo.sh STRATA: shows on real traces, bundled in tests/data, what the program is for. Needs no GPU.
set -eu
strata=$1
cd "$(dirname "$0")/.."
PATH=$(cd "$(dirname "$strata")" && pwd):$PATH

# first PATTERN...: the first file that matches
first() {
    for file in "$@"; do
        [ -f "$file" ] && echo "$file" && return
    done
    echo tests/data/tiny.json
}

trace=$(first tests/data/wan/wan_before_compile.json.gz)
step=0
show() {
    "$strata" help "$1" >/dev/null 2>&1 || return 0
    step=$((step + 1))
    why=$1
    printf '\n[%d] $ strata %s\n' "$step" "$*"
    shift
    "$strata" "$why" "$@"
}

echo "A video pipeline (Wan 2.1 in diffusers), two steps on an NVIDIA H200, recorded with torch.profiler:"
ls -l "$trace"
show info "$trace"
show report "$trace"
show table "$trace" --limit 8
show kernels "$trace" --limit 8

echo
echo "An image pipeline (Flux.2 Klein) before and after two fixes that looked large in a trace viewer:"
before=$(first tests/data/flux2/flux2_before_compile.json.gz)
after=$(first tests/data/flux2/flux2_after_compile.json.gz)
show diff "$before" "$after"

echo
echo "A loop in which the CPU and the GPU wait for each other: what removing its sync would gain"
loop=$(first tests/data/whatif/pingpong_v0.json.gz)
show whatif "$loop" --drop-sync 1

cat <<X

That was $trace. Now try a trace of your own:

    make install                    # or: build/src/strata in place of strata
    strata help                     # all commands
    strata report your_trace.json.gz

To record one, see torch.profiler's export_chrome_trace.
X
