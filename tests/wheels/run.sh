#!/bin/sh
# run.sh BUILD [PYTEST-OPTION...]: builds the wheels of `make wheels` and tests them: what they need,
# where they run, and the program for 64-bit ARM under qemu, compared with the one in BUILD.
set -eu
STRATA_BUILD=$(cd "$1" && pwd)
export STRATA_BUILD
shift
cd "$(dirname "$0")/../.."
tools/deps.sh wheels >&2
tools/venv.sh build-wheels/venv tools/wheels.txt >/dev/null
python=$(tools/venv.sh build-venv)
exec "$python" -m pytest -q -p no:cacheprovider tests/wheels "$@"
