#!/bin/sh
# run.sh BUILD [WORD | --update-images]: the browser tests on what lies in BUILD, in headless Chromium.
# With a word, only tests that have it in their name.
set -eu
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
tools/deps.sh browser >&2
tools/node.sh build-browser
NODE_MODULES=$PWD/build-browser/node_modules
export NODE_MODULES
exec node tests/browser/run.mjs --strata "$build/src/strata" --viewer "$build/viewer/viewer.html" "$@"
