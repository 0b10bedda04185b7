#!/bin/sh
# flamegraph.sh FOLDER: puts flamegraph.pl (from the Debian package of Perl's NYTProf, which carries it)
# into FOLDER, for the test that has it draw our folded stacks. Does nothing where there is no apt: that
# test is then skipped.
set -eu
folder=$1
package=libdevel-nytprof-perl
if [ -f "$folder/flamegraph.pl" ] || ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    exit 0
fi
echo "flamegraph: fetching $package for the export tests (Debian, about 0.4 MB)" >&2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$folder"
if ! (cd "$place" && apt-get download -qq "$package" >/dev/null 2>&1); then
    echo 'flamegraph.sh: apt-get failed; the test of flamegraph.pl will be skipped' >&2
    exit 0
fi
dpkg-deb -x "$place"/*.deb "$place/files"
cp "$place/files/usr/share/perl5/Devel/NYTProf/flamegraph.pl" "$folder/"
