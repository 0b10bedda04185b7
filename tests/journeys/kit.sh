# Sourced by every journey: `show` prints a command as a user types it, runs it and prints what came back;
# `expect` and `reject` look at that;
# `wish` is an `expect` that may fail for now: it is printed as open, and keeps the score low. `answer` says that the user now knows what to do; `finish` counts.
# shellcheck shell=bash
set -u
passed=0 failed=0 status=0 first_s='' began=$EPOCHREALTIME
said=$JOURNEY/said

since() { awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'; }

say() { printf '\n# %s\n' "$*"; }

show() {
    printf '\n$ %s\n' "$1"
    status=0
    (eval "$1") >"$said" 2>&1 </dev/null || status=$?
    cat "$said"
    [ "$status" = 0 ] || printf '[exit status %s]\n' "$status"
}

judge() {
    if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && printf '!! %s\n' "$2"; fi
}

expect() { judge "$(grep -Eq -- "$1" "$said"; echo $?)" "expected: $1"; }

reject() { judge "$(! grep -Eq -- "$1" "$said"; echo $?)" "not expected: $1"; }

ends_with() { judge "$([ "$status" = "$1" ]; echo $?)" "expected exit status $1, got $status"; }

exists() { judge "$([ -s "$1" ]; echo $?)" "expected a file: $1"; }

wish() { grep -Eq -- "$1" "$said" || printf '?? open: %s\n' "$1"; }

answer() { first_s=$(since); }

newest() { find "strata_out/$1" -mindepth 1 -maxdepth 1 -type d | sort | tail -1; }

finish() {
    printf '\nfirst answer after %s s, end after %s s\n%s passed, %s failed\n' "$first_s" "$(since)" "$passed" "$failed"
    [ "$failed" = 0 ]
}
