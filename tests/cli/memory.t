# Screens depend on the length of the path, so the traces are looked at from here.
$ cp $DATA/matmul_add/64_bf16_warm_eager.json.gz $DATA/wan/wan_before_compile.json.gz .

# Levels, peaks, allocations in the loop by operator and line.
$ strata memory wan_before_compile.json.gz --limit 5
| GPU 0  3.17 GB -> 3.17 GB, peak 4.11 GB in pipeline_call/transformer_forward
|   the allocator holds up to 4.94 GB, up to 1.79 GB of it unused
|   growth: too few steps to tell (3 are needed)
|   step   at end   change     peak  allocations  allocated
|      0  3.19 GB           4.09 GB        1,171    92.6 GB
|      1  3.21 GB  16.3 MB  4.11 GB        1,178    92.7 GB
| CPU  0 B -> 0 B, peak 60 B in pipeline_call/scheduler_step
|
|   allocations in the loop                                              count    bytes  largest  kept
|   (no operator)  diffusers/models/transformers/transformer_wan.py:462  1,200   155 GB   587 MB     -
|   aten::_scaled_...product_...els/transformers/transformer_wan.py:462    960  24.2 GB   101 MB     -
|   aten::layer_norm  diffusers/models/normalization.py:85                  16  1.61 GB   201 MB     -
|   aten::conv3d  diffusers/models/transformers/transformer_wan.py:628       8   823 MB   105 MB     -
|   aten::add  diffusers/models/transformers/transformer_wan.py:628         12   805 MB   201 MB     -
|   kept: allocated before the last step and not freed by the end of the trace
|
|   no calls to the driver's allocator (cudaMalloc, cudaFree), which is healthy
|
| next: strata stages wan_before_compile.json.gz   peak memory by stage
|       strata report wan_before_compile.json.gz   what is slow and why

# Without profile_memory=True it says what to record.
$ strata memory 64_bf16_warm_eager.json.gz
| memory was not recorded, so levels, peaks and growth are unknown. Record with
|   torch.profiler.profile(..., profile_memory=True)
|
|   no calls to the driver's allocator (cudaMalloc, cudaFree), which is healthy
|
| next: strata stages 64_bf16_warm_eager.json.gz   peak memory by stage
|       strata report 64_bf16_warm_eager.json.gz   what is slow and why

# A trace of the CPU: nothing is said of a driver that was not called.
$ ln -s $DATA/torch/plain.json.gz cpu.json.gz && strata memory cpu.json.gz
| memory was not recorded, so levels, peaks and growth are unknown. Record with
|   torch.profiler.profile(..., profile_memory=True)
|
| next: strata stages cpu.json.gz   peak memory by stage
|       strata report cpu.json.gz   what is slow and why
$ strata diff cpu.json.gz cpu.json.gz
|   wall 25.31 -> 25.31 ms  (+0.00 ms, +0.0 %)
|   too few traces to rule out noise: give three or more per side for a verdict
|        +0.00  everything else
|
| next: strata report cpu.json.gz   what is left to gain
