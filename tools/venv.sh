#!/bin/sh
# venv.sh FOLDER [REQUIREMENTS]: makes a virtual environment and prints the path of its python. What
# is in it is pinned by the file REQUIREMENTS, without one that of the Python tests; it is made again
# only when that file changes. STRATA_TEST_VENV names one for the tests that was made by hand.
set -eu
cd "$(dirname "$0")/.."
folder=$1
wanted=${2:-tests/python/requirements.txt}
size=''
if [ $# -eq 1 ]; then
    size=' (torch for the CPU and friends, about 2.5 GB)'
    [ -z "${STRATA_TEST_VENV:-}" ] || {
        echo "$STRATA_TEST_VENV/bin/python"
        exit
    }
fi
stamp=$folder/requirements.txt
if ! cmp -s "$wanted" "$stamp"; then
    tools/deps.sh build python >&2
    echo "venv: making $folder with what $wanted lists$size" >&2
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$wanted" >&2 || {
        echo "venv.sh: pip failed; it was to install what $wanted lists" >&2
        exit 1
    }
    cp "$wanted" "$stamp"
fi
echo "$folder/bin/python"
