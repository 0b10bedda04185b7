# shellcheck shell=bash disable=SC2016,SC2154
# Traces of torch.profiler: one recorded here, and those of a GPU.
# score 9: a trace alone cannot be tried, its gains are predictions
show 'python prof.py'
show 'strata report trace.json.gz'
ends_with 0
answer
show "strata report $DATA/advice/attention_math_stack.json.gz"
expect 'attention is not fused'
expect '-93 ?%'
show 'strata explain unfused_attention'
ends_with 0
show "strata whatif $DATA/whatif/pingpong_v0.json.gz --drop-sync 1"
ends_with 0
show "strata diff $DATA/flux2/flux2_before_compile.json.gz $DATA/flux2/flux2_after_compile.json.gz"
ends_with 0
show "strata report $DATA/wan/wan_before_compile.json.gz"
expect 'looks slow|Looks slow'
show 'strata table trace.json.gz | head -12'
expect 'aten::addmm'
show "strata table $DATA/wan/wan_before_compile.json.gz --limit 3"
expect 'key_averages.. of torch .* twice'
show 'strata report trace.json.gz --html page.html'
exists page.html
finish
