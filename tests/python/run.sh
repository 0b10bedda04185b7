#!/bin/sh
# run.sh BUILD [PYTEST-OPTION...]: runs the Python tests on what lies in BUILD. They find the program
# and the libraries through STRATA_BUILD.
set -eu
STRATA_BUILD=$(cd "$1" && pwd)
export STRATA_BUILD
shift
cd "$(dirname "$0")/../.."
tools/deps.sh python >&2
python=$(tools/venv.sh build-venv)
tools/perfetto.sh build-node
export STRATA_NODE_MODULES="${STRATA_NODE_MODULES:-$PWD/build-node/node_modules}"
case $python in
/*) ;;
*) python=$PWD/$python ;;
esac
exec "$python" -m pytest -q -p no:cacheprovider tests/python "$@"
