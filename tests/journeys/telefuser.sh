# shellcheck shell=bash disable=SC2016,SC2154
# TeleFuser's profiler with one prefix changed: folder, log lines, the harness and its script.
# score 9: never tried on an XPU or NPU
export TELEFUSER_PIPELINE_NAME=wan
show 'python stages.py'
expect '^.*\[Profile\] denoise cost 0\.0[0-9]+ seconds'
expect 'Rank 0 - Function .denoise. Peak Memory'
expect 'Timing report saved to: .*work_dirs/profiler_output/wan/[0-9]{8}_[0-9]{4}/timing.json'
answer
folder=$(find work_dirs/profiler_output/wan -mindepth 1 -type d | tail -1)
show "python stages.py $folder/timing_io_signature.json"
expect '\[Harness\]'
show 'find work_dirs -type f | sort'
expect 'profile_denoise.py'
expect 'denoise_breakdown.json'
show 'ENABLE_PROFILER_NAMES=denoise PROFILER_OUTPUT_DIR=traces python stages.py'
expect "Rank 0 - Starting PyTorch profiler for 'denoise'"
expect 'aten::addmm: CPU='
exists traces/denoise_rank0_run3.json
finish
