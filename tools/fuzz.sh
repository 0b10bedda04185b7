#!/bin/sh
# fuzz.sh [TARGET] [SECONDS] [SEED]: fuzzes tests/fuzz/fuzz_TARGET.c under the address and
# undefined-behaviour sanitizers, starting from tests/fuzz/corpus/TARGET; all targets, one after
# the other, where TARGET is "all". A target is found by its file: a new one needs nothing here, and
# a corpus of a few small files. With clang it is libFuzzer that does it, and what it finds goes to
# build-fuzz/corpus/TARGET, what it prints to build-fuzz/TARGET.log. Without (or with
# STRATA_FUZZ_CC=gcc) a driver of our own tries random mutants of the corpus. The input that failed
# is left in build-fuzz/ or build-asan/fuzz/.
set -eu
cd "$(dirname "$0")/.."
targets() {
    find tests/fuzz -name 'fuzz_*.c' | sed 's/.*fuzz_\(.*\)\.c$/\1/' | sort
}
if [ $# -lt 1 ]; then
    echo 'usage: tools/fuzz.sh TARGET|all [SECONDS] [SEED]   targets:'
    targets | sed 's/^/  /'
    exit 2
fi
target=$1
seconds=${2:-60}
seed=${3:-$(date +%s)}
if [ "$target" = all ]; then
    failed=''
    for t in $(targets); do
        "$0" "$t" "$seconds" "$seed" || failed="$failed $t"
    done
    [ -z "$failed" ] || echo "fuzz.sh: these failed:$failed" >&2
    [ -z "$failed" ]
    exit
fi
corpus=$PWD/tests/fuzz/corpus/$target
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
ASAN_OPTIONS=hard_rss_limit_mb=4096
export UBSAN_OPTIONS ASAN_OPTIONS

with_libfuzzer() {
    tools/deps.sh build fuzz
    CC=clang-14 tools/setup.sh build-fuzz -Dbuildtype=debugoptimized -Db_lundef=false \
        -Dfuzzer=true -Db_sanitize=address,undefined
    ninja -C build-fuzz "tests/fuzz_$target" >/dev/null
    mkdir -p "build-fuzz/corpus/$target"
    log=build-fuzz/$target.log
    "build-fuzz/tests/fuzz_$target" -max_total_time="$seconds" -timeout=60 -seed="$seed" \
        -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$PWD/build-fuzz/$target-" \
        "$PWD/build-fuzz/corpus/$target" "$corpus" >"$log" 2>&1 || {
        tail -40 "$log"
        exit 1
    }
    n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$target: $n executions in $seconds s (seed $seed): no failure"
}

with_our_own() {
    make --no-print-directory build-asan
    ninja -C build-asan "tests/fuzz_$target" >/dev/null
    mkdir -p build-asan/fuzz
    last=$PWD/build-asan/fuzz/$target.$seed
    printf '%s: ' "$target"
    "build-asan/tests/fuzz_$target" --fuzz "$seconds" "$seed" "$last" "$corpus" || {
        mkdir -p "$last.failed" && mv "$last" "$last.failed/input"
        FUZZ_VERBOSE=1 "build-asan/tests/fuzz_$target" "$last.failed" || :
        echo "fuzz.sh: the input that failed is $last.failed/input" >&2
        exit 1
    }
}

if [ "${STRATA_FUZZ_CC:-clang}" = clang ] && command -v clang-14 >/dev/null; then
    with_libfuzzer
else
    with_our_own
fi
