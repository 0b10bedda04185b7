#!/bin/sh
# gate.sh TRACE BUDGET [BASELINE]: holds a trace against a budget and writes comment.md: the verdict,
# and what changed since the trace BASELINE, if there is one. Exits 1 when the budget is broken
# and 3 when the trace cannot be trusted.
set -eu
trace=$1 budget=$2 baseline=${3:-}

status=0
verdict=$(strata check "$trace" --budget "$budget") || status=$?
[ "$status" -le 1 ] || { printf '%s\n' "$verdict" >&2; exit "$status"; }

block() {
    echo '```'
    cat
    echo '```'
}

{
    if [ "$status" = 0 ]; then echo '### Performance budget: kept'; else echo '### Performance budget: broken'; fi
    printf '%s\n' "$verdict" | block
    if [ -n "$baseline" ] && [ -f "$baseline" ]; then
        echo '<details><summary>What changed since the base branch</summary>'
        echo
        strata diff "$baseline" "$trace" | block
        echo '</details>'
    fi
} >comment.md
exit "$status"
