#!/bin/sh
# lint.sh BUILD: everything that can be said about the source without running it. Takes the compile
# commands from the folder BUILD. Runs all checks, then fails if any complained.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1

failed=''
check() {
    name=$1
    shift
    echo "lint: $name"
    "$@" || failed="$failed $name"
}

c_files() { git ls-files -co --exclude-standard '*.c' '*.h' | grep -v '^viewer/' | xargs ls -d 2>/dev/null; }
c_sources() { c_files | grep '\.c$'; }
shell_files() { git ls-files -co --exclude-standard '*.sh' .ci/run | xargs ls -d 2>/dev/null; }

formatting() { c_files | xargs clang-format-14 --dry-run --Werror; }
cpp_check() {
    mkdir -p "$build/cppcheck"
    c_sources | grep '^src/' | cppcheck --quiet --std=c11 --enable=warning,performance,portability \
        --inline-suppr --error-exitcode=1 --cppcheck-build-dir="$build/cppcheck" -j "$(nproc)" -Isrc -Iinclude --suppress=missingInclude \
        --suppressions-list=tools/cppcheck.suppress -D_GNU_SOURCE --file-list=-
}
shell() { shell_files | xargs shellcheck; }
python_syntax() {
    git ls-files -co --exclude-standard '*.py' | xargs python3 -c '
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path, encoding="utf-8").read(), path)'
}

typescript() {
    tools/deps.sh browser && tools/node.sh build-browser && build-browser/node_modules/.bin/tsc -p viewer
}

check layers tools/check_layers.py
check python-layers tools/check_python_layers.py
check banned tools/check_banned.py
check clang-format formatting
check shellcheck shell
check python python_syntax
check typescript typescript
check cppcheck cpp_check
check clang-tidy tools/tidy.py "$build"

[ -z "$failed" ] || {
    echo "lint: failed:$failed"
    exit 1
}
echo 'lint: clean'
