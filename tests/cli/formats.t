# A Perfetto trace as PyTorch writes it: device work as render stages, no categories.
$ strata kernels $DATA/../fuzz/corpus/pftrace/torch.pftrace.gz
| 6 kernels, 1 copy, 0 memsets: 380 us of device work; totals in us, single calls in us
|
|   kernel  calls  total     %  median   p95  occ %  limited by   achieved
|   sgemm       6    360  94.7    60.0  60.0      -  -                   -
|   Memcpy      1   20.0   5.3    20.0  20.0      -  -           0.20 GB/s
|
| next: strata kernels $DATA/../fuzz/corpus/pftrace/torch.pftrace.gz --by op
|       strata kernels $DATA/../fuzz/corpus/pftrace/torch.pftrace.gz --roof
$ strata syncs $DATA/../fuzz/corpus/pftrace/torch.pftrace
| the CPU waits 1 time at 1 place (1 step): blocked 45.0 us, which leaves the GPU idle for 0
|   site  kind             blocked  exposed  calls per step queued  in
|      1  explicit         45.0 us        -      1        1      0  ProfilerStep#1
|         ProfilerStep#1  cudaStreamSynchronize
|   blocked: CPU time inside the calls; exposed: GPU idle time they cause
|   the trace has no Python stacks; record with with_stack=True to get file and line
|
| next: strata syncs $DATA/../fuzz/corpus/pftrace/torch.pftrace --site 1
|       strata whatif $DATA/../fuzz/corpus/pftrace/torch.pftrace --drop-sync 1
$ strata info $DATA/../fuzz/corpus/pftrace/sdk.pftrace
| $DATA/../fuzz/corpus/pftrace/sdk.pftrace   perfetto, 241 B, 5 events
|
|   recorded  by an unknown version
|   with      stacks no, shapes no, memory no, modules no, FLOPs no
|   device    none listed
|   time      15.0 us from first to last event
|   steps     not marked by the profiler; strata steps looks for them
|   lanes     1 process, 1 thread, 0 GPU streams
|
|   category        read as  events
|   (none)          other         3
|   cat             other         1
|   flows (arrows)                1
|
|   lane    kind     events
|   worker  thread        3
|   mem     counter       1
|
|   damage    none
|
| next: strata report $DATA/../fuzz/corpus/pftrace/sdk.pftrace   what is slow and why
|       strata lint $DATA/../fuzz/corpus/pftrace/sdk.pftrace
$ head -c 700 $DATA/../fuzz/corpus/pftrace/torch.pftrace > cut.pftrace; strata info cut.pftrace | tail -6
|
|   damage    1 file cut short
|             9 begin or end events without a partner
|
| next: strata report cut.pftrace   what is slow and why
|       strata lint cut.pftrace     what is wrong with the recording, with byte offsets
! strata: cut.pftrace: ends inside an event at byte 700 (file cut short): 9 events read, the last one lost
! strata: cut.pftrace: begin or end events without a partner: 9 (first at byte 652); strata lint lists all
