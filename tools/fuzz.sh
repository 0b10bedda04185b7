#!/bin/sh
# fuzz.sh TARGET [SECONDS]: fuzzes tests/fuzz/fuzz_TARGET.c with libFuzzer under the address and
# undefined-behaviour sanitizers, starting from tests/fuzz/corpus/TARGET. What it finds goes to
# build-fuzz/corpus/TARGET; a crash is left in build-fuzz/. Without TARGET it lists them.
set -eu
cd "$(dirname "$0")/.."
if [ $# -lt 1 ]; then
    echo 'usage: tools/fuzz.sh TARGET [SECONDS]   targets:'
    find tests/fuzz -name 'fuzz_*.c' | sed 's/.*fuzz_\(.*\)\.c$/  \1/'
    exit 2
fi
target=$1
seconds=${2:-60}
tools/deps.sh build fuzz
CC=clang-14 tools/setup.sh build-fuzz -Dbuildtype=debugoptimized -Db_lundef=false -Dfuzzer=true \
    -Db_sanitize=address,undefined
ninja -C build-fuzz "tests/fuzz_$target"
mkdir -p "build-fuzz/corpus/$target"
cd build-fuzz
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export UBSAN_OPTIONS
exec "tests/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 \
    -print_final_stats=1 "corpus/$target" "../tests/fuzz/corpus/$target"
