#!/bin/sh
# setup.sh FOLDER [OPTION...]: configures a Meson build folder once, and again only when a file was
# added to or removed from tests/ or viewer/, which Meson does not notice by itself.
set -eu
folder=$1
shift
listing=$(ls -d tests/unit/* tests/fuzz/* tests/cli/* tests/python/* viewer/src/* viewer/src/*/* \
    viewer/style/* 2>/dev/null || true)
stamp=$folder/tests.list
if [ ! -f "$folder/build.ninja" ]; then
    log=$(mktemp)
    meson setup "$folder" "$@" >"$log" || {
        cat "$log"
        exit 1
    }
    rm -f "$log"
elif [ "$listing" != "$(cat "$stamp" 2>/dev/null)" ]; then
    meson setup --reconfigure "$folder" "$@" >/dev/null
fi
printf '%s\n' "$listing" >"$stamp"
