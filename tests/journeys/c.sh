# shellcheck shell=bash disable=SC2016,SC2154
# A C program with marks: build it with pkg-config, record it, and read what a crash left.
# score 9: steps are called ProfilerStep# as in torch
cp "$EXAMPLES/engine.c" .
show 'cc engine.c $(pkg-config --cflags --libs strata) -o engine'
ends_with 0
show 'strata run -- ./engine'
expect 'forward +20 .* [0-9.]+ [kM]B'
answer
show "strata steps $(newest engine)"
expect '20 steps'
show 'strata run --level timeline -- ./engine'
reject 'record with strata run --level timeline'
show "sed 's/strata_end();/if (step == 7) abort(); strata_end();/' engine.c > crash.c && cc crash.c \$(pkg-config --cflags --libs strata) -o crash"
ends_with 0
show 'strata run -- ./crash'
expect 'forward +8'
ends_with 134
show "strata info $(newest crash)"
ends_with 0
finish
