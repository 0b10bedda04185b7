#!/bin/sh
# run.sh BUILD [PYTEST-OPTION...]: runs the Python tests on what lies in BUILD. They find the program
# and the libraries through STRATA_BUILD. They run through a link with a space and our own name in it,
# as a clone may be called: no test may depend on where it lies. Two files of tests at a time: much of
# what they do is waiting.
set -eu
STRATA_BUILD=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
top=$(pwd)
tools/deps.sh python >&2
python=$(tools/venv.sh build-venv)
tools/perfetto.sh build-node
tools/flamegraph.sh build-node

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
link="$place/a clone of strata"
ln -s "$top" "$link"
cd "$link"
case $STRATA_BUILD in
"$top"/*) STRATA_BUILD=$link/${STRATA_BUILD#"$top"/} ;;
esac
export STRATA_BUILD
export STRATA_NODE_MODULES="${STRATA_NODE_MODULES:-$link/build-node/node_modules}"
case $python in
/*) ;;
*) python=$link/$python ;;
esac
"$python" -m pytest -q -p no:cacheprovider -n 2 --dist loadfile tests/python "$@"
