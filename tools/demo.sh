#!/bin/sh
# demo.sh BUILD: shows what the program is for, on a program recorded here and now and on real
# traces bundled in tests/data. Needs no GPU. Writes into strata_demo/.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
PATH=$build/src:$PATH
export PYTHONPATH="$build/python"

steps=7
step=0
show() {
    step=$((step + 1))
    printf '\n[%d/%d] $ strata %s\n\n' "$step" "$steps" "$*"
    strata "$@"
}

wan=tests/data/wan/wan_before_compile.json.gz
flux2=tests/data/flux2
out=strata_demo
mkdir -p $out

echo
echo 'Layer 1, stages: a small pipeline, recorded as it runs. Which stage takes the time?'
show run -o $out -- python3 examples/pipeline.py

echo
echo 'Layer 2, timeline: a video pipeline (Wan 2.1 in diffusers), two steps on an NVIDIA H200, recorded'
echo 'with torch.profiler. Its two waits of 565 ms look terrible in a trace viewer. Are they?'
show info $wan
show report $wan
show kernels $wan --limit 8

echo
echo 'An image pipeline (Flux.2 Klein) before and after two fixes that looked large in a trace viewer:'
show diff $flux2/flux2_before_compile.json.gz $flux2/flux2_after_compile.json.gz

echo
echo 'A loop in which the CPU and the GPU wait for each other: what removing its sync would gain:'
show whatif tests/data/whatif/pingpong_v0.json.gz --drop-sync 1

echo
echo 'The same as a page to look at and to send around:'
show report $wan --html $out/report.html

cat <<X

Open $out/report.html in a browser. Then try a trace of your own:

    make install                    # or: build/src/strata in place of strata
    strata report trace.json.gz     # of torch.profiler: prof.export_chrome_trace("trace.json.gz")
    strata run -- python pipe.py    # or record one
    strata help                     # all commands
X
