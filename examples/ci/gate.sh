#!/bin/sh
# gate.sh TRACE BUDGET [BASELINE]: holds a trace against a budget and writes comment.md: the verdict,
# and what changed since the trace BASELINE, if there is one. Limits such as `step_ms <= 105 %` are of
# what that trace has. Exits 1 when the budget is broken
# and 3 when the trace cannot be trusted; comment.md says so, too.
set -eu
trace=$1 budget=$2 baseline=${3:-}

status=0
set -- --budget "$budget"
[ -z "$baseline" ] || [ ! -f "$baseline" ] || set -- "$@" --baseline "$baseline"
verdict=$(strata check "$trace" "$@") || status=$?
[ -n "$verdict" ] || exit "$status" # a mistake, which strata has named

block() {
    echo '```'
    cat
    echo '```'
}

{
    case $status in
    0) echo '### Performance budget: kept' ;;
    1) echo '### Performance budget: broken' ;;
    *) echo '### Performance budget: not checked' ;;
    esac
    printf '%s\n' "$verdict" | block
    if [ "$status" -le 1 ] && [ -n "$baseline" ] && [ -f "$baseline" ]; then
        echo '<details><summary>What changed since the base branch</summary>'
        echo
        strata diff "$baseline" "$trace" | block
        echo '</details>'
    fi
} >comment.md
[ "$status" -le 1 ] || cat comment.md >&2
exit "$status"
