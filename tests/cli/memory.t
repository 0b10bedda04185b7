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

# A memory snapshot of PyTorch: who holds the memory, what grows.
$ cp $DATA/memory/growing.pickle $DATA/memory/out_of_memory.pickle . && strata memory growing.pickle
| growing.pickle   PyTorch memory snapshot   5.56 kB   1 device   84 events   2 segments
|
| GPU 0 peak: 29.4 MB held of 41.9 MB reserved, 511 us after the first event (74 of 84)
|   other code 15.7 MB, activations and forward 6.29 MB, optimizer state 4.19 MB,
|   weights and buffers 2.10 MB, no stack recorded 1.05 MB
|      held   share  blocks  what       line
|   15.7 MB  53.6 %       5  other      /srv/train.py:57 log
|   6.29 MB  21.4 %       2  forward    /srv/model.py:33 forward
|   4.19 MB  14.3 %       2  optimizer  /srv/train.py:53 step
|   2.10 MB   7.1 %       2  weights    /srv/train.py:20 build
|   1.05 MB   3.6 %       1  unknown    (no stack)
|
| unused at the snapshot: 16.8 MB of 41.9 MB in 2 segments (40.0 %), largest block 14.7 MB
|   16.8 MB lies between blocks in use, in 2 segments: nobody but this process can use it
|     14.7 MB free of 21.0 MB, held open by /srv/train.py:57 log
|     2.10 MB free of 21.0 MB, held open by /srv/train.py:57 log
| growth: 3.15 MB per round, in each of 5 rounds (12.6 MB to 25.2 MB)
|      grew  share  blocks  what   line
|   12.6 MB  100 %       4  other  /srv/train.py:57 log
$ strata memory out_of_memory.pickle --limit 2
| out_of_memory.pickle   PyTorch memory snapshot   4.46 kB   1 device   66 events   1 segment
|
| GPU 0 peak: 13.6 MB held of 21.0 MB reserved, 133 us after the first event (20 of 66)
|   activations and forward 6.29 MB, optimizer state 4.19 MB, weights and buffers 2.10 MB,
|   no stack recorded 1.05 MB
|      held   share  blocks  what       line
|   6.29 MB  46.2 %       2  forward    /srv/model.py:33 forward
|   4.19 MB  30.8 %       2  optimizer  /srv/train.py:53 step
|   ... and 2 more (--limit 0 shows all)
|
| memory ran out after 455 us: 67.1 MB asked for, 52.4 MB free on the device, 14.7 MB free in segments
|   at /srv/train.py:70 evaluate
|   not fragmentation: less was free in segments than was asked for
|   optimizer state 4.19 MB, weights and buffers 2.10 MB
|      held   share  blocks  what       line
|   4.19 MB  66.7 %       2  optimizer  /srv/train.py:53 step
|   2.10 MB  33.3 %       2  weights    /srv/train.py:20 build
|
| unused at the snapshot: 14.7 MB of 21.0 MB in 1 segment (70.0 %), largest block 12.6 MB
|   14.7 MB lies between blocks in use, in 1 segment: nobody but this process can use it
|     14.7 MB free of 21.0 MB, held open by /srv/train.py:53 step
| growth: none; the level is the same in each of 5 rounds (9.44 MB)
$ strata memory growing.pickle --json | jq -c '.devices[0] | .growth.per_round_bytes, .peak.categories, .peak.holders[0].stack'
| 3145728
| {"weights":2097152,"optimizer":4194304,"forward":6291456,"other":15728640,"unknown":1048576}
| ["/srv/train.py:57 log","/srv/train.py:90 main"]
$ strata info growing.pickle
| growing.pickle   PyTorch memory snapshot   5.56 kB   1 device   84 events   2 segments
| next: strata memory growing.pickle   who holds the memory
$ strata report growing.pickle
! strata: growing.pickle: a memory snapshot of PyTorch, not a trace: strata memory shows who holds the memory
? 3
$ printf '\x80\x04\x8c\x08segmentscos\nsystem\n.' > calls.pickle; strata memory calls.pickle
! strata: calls.pickle: byte 12: instruction 0x63 of the pickle would import or call something: refused
? 3
$ head -c 2000 growing.pickle > cut.pickle; strata memory cut.pickle
! strata: cut.pickle: byte 2,000: the pickle ends before its end mark (file cut short)
? 3
