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
# Put into build-lint by tools/venv.sh.
python_tool() {
    python=$(tools/venv.sh build-lint tools/requirements.txt) || return 1
    "$python" -m "$@"
}

typescript() {
    tools/deps.sh node && tools/node.sh build-browser && build-browser/node_modules/.bin/tsc -p viewer
}

check layers tools/check_layers.py
check python-layers tools/check_python_layers.py
check banned tools/check_banned.py
check words tools/check_words.py
check settings tools/check_settings.py
check clang-format formatting
check commits tools/check_commits.py
check shellcheck shell
check ruff python_tool ruff check --quiet
check mypy python_tool mypy --no-error-summary
check typescript typescript
check cppcheck cpp_check
check clang-tidy tools/tidy.py "$build"

[ -z "$failed" ] || {
    echo "lint: failed:$failed"
    exit 1
}
echo 'lint: clean'
