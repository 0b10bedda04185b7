#!/bin/sh
# hide_names.sh IN.a OUT.a: makes one object of a static library, in which only names of default
# visibility can be seen from outside.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ld -r -o "$folder/all.o" --whole-archive "$1"
objcopy --localize-hidden "$folder/all.o"
rm -f "$2"
ar rcs "$2" "$folder/all.o"
