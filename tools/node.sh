#!/bin/sh
# node.sh FOLDER: puts what the browser tests need from npm into FOLDER/node_modules: Playwright, which
# drives the system's Chromium, and the TypeScript compiler, which checks the viewer.
set -eu
folder=$1
playwright=1.65.0
typescript=7.0.2
stamp=$folder/node_modules/.strata-$playwright-$typescript
[ ! -f "$stamp" ] || exit 0
command -v npm >/dev/null || {
    echo 'node.sh: npm is missing; tools/deps.sh browser installs it' >&2
    exit 1
}
echo "node: fetching playwright-core $playwright and typescript $typescript (npm)" >&2
mkdir -p "$folder"
npm install --silent --no-audit --no-fund --no-save --prefix "$folder" \
    "playwright-core@$playwright" "typescript@$typescript" >&2
touch "$stamp"
