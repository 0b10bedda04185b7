#!/bin/sh
# run.sh BUILD [OPTION...]: plays the journeys of new users on what lies in BUILD (run.py has the options).
set -eu
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
tools/deps.sh python >&2
exec tests/journeys/run.py --build "$build" --python "$(tools/venv.sh build-venv)" "$@"
