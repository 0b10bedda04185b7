#!/bin/sh
# venv.sh FOLDER: makes the virtual environment of the Python tests and prints the path of its
# python. Everything in it is pinned by tests/python/requirements.txt; it is made again only when
# that file changes. STRATA_TEST_VENV names one made by hand.
set -eu
cd "$(dirname "$0")/.."
folder=${STRATA_TEST_VENV:-$1}
wanted=tests/python/requirements.txt
stamp=$folder/requirements.txt
if [ -z "${STRATA_TEST_VENV:-}" ] && ! cmp -s "$wanted" "$stamp"; then
    tools/deps.sh build python >&2
    echo "venv: making $folder for the Python tests (torch for the CPU and friends, about 1.3 GB)" >&2
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$wanted" >&2 || {
        echo "venv.sh: pip failed; the Python tests need what $wanted lists" >&2
        exit 1
    }
    cp "$wanted" "$stamp"
fi
echo "$folder/bin/python"
