#!/bin/sh
# run.sh BUILD [PYTEST-OPTION...]: runs the Python tests on what lies in BUILD. They find the program
# and the libraries through STRATA_BUILD. They run through a link with a space and our own name in it,
# as a clone may be called: no test may depend on where it lies. Two files of tests at a time: much of
# what they do is waiting. Then, by themselves, those that judge which of several processes is late.
set -eu
STRATA_BUILD=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/../.."
top=$(pwd)
tools/deps.sh python >&2
python=$(tools/venv.sh build-venv)
tools/perfetto.sh build-node
tools/flamegraph.sh build-node

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
link="$place/a clone of strata"
ln -s "$top" "$link"
cd "$link"
case $STRATA_BUILD in
"$top"/*) STRATA_BUILD=$link/${STRATA_BUILD#"$top"/} ;;
esac
export STRATA_BUILD
export STRATA_NODE_MODULES="${STRATA_NODE_MODULES:-$link/build-node/node_modules}"
case $python in
/*) ;;
*) python=$link/$python ;;
esac
failed=0
pass() { # pass PYTEST-OPTION...: what fails beside others is run once more by itself
    rm -rf "$place/cache"
    tests "$@"
    if [ "$rc" = 1 ]; then
        cat "$place/out"
        tail -n 1 "$place/out" | grep -o '[0-9]* passed' >>"$place/counts" || :
        sed -n 's/^FAILED \|^ERROR /unsteady: /p' "$place/out" | sed 's/ - .*//' >"$place/first"
        tests --last-failed --last-failed-no-failures none
        sed -n 's/^FAILED \|^ERROR /unsteady: /p' "$place/out" | sed 's/ - .*//' >"$place/second"
        grep -vxFf "$place/second" "$place/first" || :
    fi
    cat "$place/out"
    tail -n 1 "$place/out" >>"$place/counts"
    [ "$rc" = 0 ] || [ "$rc" = 5 ] || failed=1
}
tests() { # tests PYTEST-OPTION...; pytest exits with 5 if there are none
    rc=0
    "$python" -m pytest -q -rfE --durations=30 --durations-min=5 -o cache_dir="$place/cache" tests/python "$@" >"$place/out" 2>&1 || rc=$?
}
sum() { grep -o "[0-9]* $1" "$place/counts" | awk '{ n += $1 } END { print n + 0 }'; }
pass --alone no -n 2 --dist loadfile "$@"
pass --alone only "$@"
echo "$(sum passed) passed, $(($(sum failed) + $(sum error))) failed"
exit "$failed"
