#!/bin/sh
# node.sh FOLDER: puts what the browser tests need from npm into FOLDER/node_modules: Playwright, which
# drives the system's Chromium, the TypeScript compiler, which checks the viewer, and what reads our flame
# graphs: speedscope itself and a parser of pprof's format.
set -eu
folder=$1
playwright=1.65.0
typescript=7.0.2
speedscope=1.25.0
pprof=2.3.2
stamp=$folder/node_modules/.strata-$playwright-$typescript-$speedscope-$pprof
[ ! -f "$stamp" ] || exit 0
command -v npm >/dev/null || {
    echo 'node.sh: npm is missing; tools/deps.sh browser installs it' >&2
    exit 1
}
echo "node: fetching playwright-core $playwright, typescript $typescript, speedscope, pprof-format (npm)" >&2
mkdir -p "$folder"
npm install --silent --no-audit --no-fund --no-save --prefix "$folder" \
    "playwright-core@$playwright" "typescript@$typescript" "speedscope@$speedscope" \
    "pprof-format@$pprof" >&2
touch "$stamp"
