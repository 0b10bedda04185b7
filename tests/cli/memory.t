# Screens depend on the length of the path, so the traces are looked at from here.
$ cp $DATA/matmul_add/64_bf16_warm_eager.json.gz $DATA/wan/wan_before_compile.json.gz .

# Levels, peaks, allocations in the loop by operator and line.
$ strata memory wan_before_compile.json.gz --limit 5
| GPU 0: 4.11 GB at most, in pipeline_call/transformer_forward; 3.17 GB at start and end
|   the allocator holds up to 4.94 GB, up to 1.79 GB of it unused
|   growth: too few steps to tell (3 are needed)
|   step   at end   change     peak  allocations  allocated
|      0  3.19 GB        -  4.09 GB        1,171    92.6 GB
|      1  3.21 GB  16.3 MB  4.11 GB        1,178    92.7 GB
| CPU: 60 B at most, in pipeline_call/scheduler_step; 0 B at start and end
|
|   allocations in the loop                                              count    bytes  largest  kept
|   forward  diffusers/models/transformers/transformer_wan.py:462        1,200   155 GB   587 MB     -
|   aten::_scaled_...product_...els/transformers/transformer_wan.py:462    960  24.2 GB   101 MB     -
|   aten::layer_norm  diffusers/models/normalization.py:85                  16  1.61 GB   201 MB     -
|   aten::conv3d  diffusers/models/transformers/transformer_wan.py:628       8   823 MB   105 MB     -
|   aten::add  diffusers/models/transformers/transformer_wan.py:628         12   805 MB   201 MB     -
|   40 more rows hold the other 1.3 % (--limit 0 shows all)
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
| next: strata report 64_bf16_warm_eager.json.gz   what is slow and why

# A trace of the CPU: nothing is said of a driver that was not called.
$ ln -s $DATA/torch/plain.json.gz cpu.json.gz && strata memory cpu.json.gz
| memory was not recorded, so levels, peaks and growth are unknown. Record with
|   torch.profiler.profile(..., profile_memory=True)
|
| next: strata report cpu.json.gz   what is slow and why
$ strata diff cpu.json.gz cpu.json.gz
|   wall 25.31 -> 25.31 ms  (no change)
|   not proven: too few traces to rule out noise, give three or more per side
|
|   what changed
|     nothing that the traces show
|
| next: strata report cpu.json.gz   what is left to gain
! strata: both sides are the same file, cpu.json.gz

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
|   16.8 MB is free between blocks in use, in 2 segments: only this process can use it
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
|   no stack: asked for by a thread without Python, as in the backward pass; stacks="all" records it
|      held   share  blocks  what       line
|   6.29 MB  46.2 %       2  forward    /srv/model.py:33 forward
|   4.19 MB  30.8 %       2  optimizer  /srv/train.py:53 step
|   ... and 2 more (--limit 0 shows all)
|
| memory ran out after 455 us: 67.1 MB asked for, 52.4 MB free on the device, 14.7 MB free in segments
|   at /srv/train.py:70 evaluate
|   not fragmentation: the segments had less free memory than was requested
|   optimizer state 4.19 MB, weights and buffers 2.10 MB
|      held   share  blocks  what       line
|   4.19 MB  66.7 %       2  optimizer  /srv/train.py:53 step
|   2.10 MB  33.3 %       2  weights    /srv/train.py:20 build
|
| unused at the snapshot: 14.7 MB of 21.0 MB in 1 segment (70.0 %), largest block 12.6 MB
|   14.7 MB is free between blocks in use, in 1 segment: only this process can use it
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
! strata: growing.pickle: a PyTorch memory snapshot, not a trace: strata memory shows which code holds the memory
? 3
$ printf '\x80\x04\x8c\x08segmentscos\nsystem\n.' > calls.pickle; strata memory calls.pickle
! strata: calls.pickle: byte 12: instruction 0x63 of the pickle would import or call something: refused
? 3
$ head -c 2000 growing.pickle > cut.pickle; strata memory cut.pickle
! strata: cut.pickle: byte 2,000: the pickle ends before its end mark (file cut short)
? 3

# Real ones, of an H200: a training that runs out of memory, one that keeps its outputs.
$ cp $DATA/memory/h200_oom.pickle.gz $DATA/memory/h200_growing.pickle.gz . && strata memory h200_oom.pickle.gz --limit 4
| h200_oom.pickle.gz   PyTorch memory snapshot   51.3 kB   1 device   487 events   42 segments
|
| GPU 0 peak: 2.90 GB held of 2.97 GB reserved, 45.3 ms after the first event (388 of 487)
|   68.2 MB of it was there before the first event that is recorded
|   other code 2.43 GB, optimizer state 269 MB, weights and buffers 134 MB,
|   activations and forward 34.6 MB, allocated before the recording 33.6 MB
|      held   share  blocks  what       line
|   2.42 GB  83.2 %      24  other      /srv/train.py:94 run_out
|    269 MB   9.3 %      32  optimizer  /srv/train.py:45 step
|    134 MB   4.6 %      16  weights    /srv/train.py:38 make
|   34.6 MB   1.2 %       2  forward    /srv/train.py:23 forward
|   ... and 2 more (--limit 0 shows all)
|
| memory ran out after 45.9 ms: 101 MB asked for, 146 GB free on the device, 67.9 MB free in segments
|   at /srv/train.py:94 run_out
|   the device had enough: the process is limited (set_per_process_memory_fraction)
|   held by the same as at the peak
|
| unused at the snapshot: 488 MB of 2.97 GB in 42 segments (16.4 %), largest block 67.1 MB
|   453 MB lies in segments without a block in use: torch.cuda.empty_cache() gives it back
|   34.6 MB is free between blocks in use, in 2 segments: only this process can use it
|     33.6 MB free of 134 MB, held open by /srv/train.py:94 run_out
|     1.05 MB free of 2.10 MB, held open by /srv/train.py:23 forward
| growth: no rounds of equal allocations found, so it cannot be judged
$ strata memory h200_growing.pickle.gz --limit 4
| h200_growing.pickle.gz   PyTorch memory snapshot   157 kB   1 device   2,188 events   20 segments
|
| GPU 0 peak: 387 MB held of 417 MB reserved, 37.3 ms after the first event (1,903 of 2,188)
|   68.2 MB of it was there before the first event that is recorded
|   activations and forward 152 MB, optimizer state 67.2 MB, no stack recorded 67.1 MB,
|   weights and buffers 33.6 MB, other code 33.6 MB, allocated before the recording 33.6 MB,
|   gradients and backward 4 B
|   no stack: asked for by a thread without Python, as in the backward pass; stacks="all" records it
|      held   share  blocks  what       line
|    152 MB  39.3 %      12  forward    /srv/train.py:23 forward
|   67.2 MB  17.4 %      32  optimizer  /srv/train.py:66 train_growing
|   67.1 MB  17.3 %       9  unknown    (no stack)
|   33.6 MB   8.7 %      16  weights    /srv/train.py:38 make
|   ... and 5 more (--limit 0 shows all)
|
| unused at the snapshot: 316 MB of 417 MB in 20 segments (75.6 %), largest block 33.6 MB
|   273 MB lies in segments without a block in use: torch.cuda.empty_cache() gives it back
|   43.0 MB is free between blocks in use, in 5 segments: only this process can use it
|     16.8 MB free of 21.0 MB, held open by /srv/train.py:68 train_growing
|     8.39 MB free of 21.0 MB, held open by /srv/train.py:68 train_growing
|     8.39 MB free of 16.8 MB, held open by /srv/train.py:68 train_growing
|     8.39 MB free of 16.8 MB, held open by /srv/train.py:68 train_growing
| growth: 4.19 MB per round, in each of 7 rounds (362 MB to 387 MB)
|      grew  share  blocks  what   line
|   25.2 MB  100 %       6  other  /srv/train.py:68 train_growing
