# shellcheck shell=bash disable=SC2016,SC2154
# A gate for pull requests: a budget, its exit codes, a comment, and JSON that keeps its schema.
# score 9: no plug-in for pytest or GitHub; the workflow is to be copied
cp "$EXAMPLES/ci/gate.sh" "$EXAMPLES/ci/budget.txt" .
before=$DATA/flux2/flux2_before_compile.json.gz after=$DATA/flux2/flux2_after_compile.json.gz
show "strata check $after --budget budget.txt"
ends_with 0
answer
show "strata check $DATA/whatif/pingpong_v0.json.gz --budget budget.txt"
ends_with 1
show "./gate.sh $after budget.txt $before && cat comment.md"
ends_with 0
show "strata diff $before $after --fail-if-slower 2"
ends_with 0
show "strata diff $after $before --fail-if-slower 2"
ends_with 1
printf 'wall_ms <= 105 %%\n' > relative.txt
show "strata check $after --budget relative.txt --baseline $before"
ends_with 0
show "strata check $before --budget relative.txt --baseline $DATA/whatif/pingpong_v0.json.gz"
ends_with 1
show "head -c 3000 $DATA/tiny.json > cut.json; ./gate.sh cut.json budget.txt"
reject 'No such file'
exists comment.md
show "strata check $after --budget missing.txt"
ends_with 2
show 'strata run --level timeline -- python gen.py'
show "python schemas.py $(newest gen)"
expect 'report ok'
expect 'stages ok'
expect 'memory ok'
finish
