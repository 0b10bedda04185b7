#!/bin/sh
# demo.sh STRATA: shows on real traces, bundled in tests/data, what the program is for. Needs no GPU.
set -eu
cd "$(dirname "$0")/.."
PATH=$(cd "$(dirname "$1")" && pwd):$PATH

steps=6
step=0
show() {
    step=$((step + 1))
    printf '\n[%d/%d] $ strata %s\n\n' "$step" "$steps" "$*"
    strata "$@"
}

wan=tests/data/wan/wan_before_compile.json.gz
echo
echo 'A video pipeline (Wan 2.1 in diffusers), two steps on an NVIDIA H200, recorded with torch.profiler:'
show info $wan
show report $wan
show table $wan --limit 8
show kernels $wan --limit 8

echo
echo 'An image pipeline (Flux.2 Klein) before and after two fixes that looked large in a trace viewer:'
show diff tests/data/flux2/flux2_before_compile.json.gz tests/data/flux2/flux2_after_compile.json.gz

echo
echo 'A loop in which the CPU and the GPU wait for each other: what removing its sync would gain:'
show whatif tests/data/whatif/pingpong_v0.json.gz --drop-sync 1

cat <<'X'

Now try a trace of your own (torch.profiler: prof.export_chrome_trace("trace.json.gz")):

    make install                    # or: build/src/strata in place of strata
    strata report trace.json.gz
    strata help                     # all commands
X
