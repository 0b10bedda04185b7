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

# A profile of JAX: HLO names, steps, TraceMe, Python; in the folder where its tools keep it.
$ mkdir -p log/plugins/profile/2026_01_02; cp $DATA/../fuzz/corpus/xplane/cuda.xplane.pb log/plugins/profile/2026_01_02/host.xplane.pb
$ strata info log
| log   xplane, 3.61 kB, 64 events
|
|   recorded  by an unknown version; 2025-10-09 08:53:20 UTC
|   with      stacks yes, shapes no, memory no, modules no, FLOPs no
|   device 0  Nvidia, 85.9 GB, 132 SMs, compute capability 9.0
|   time      3.90 ms from first to last event
|   steps     4 marked by the profiler (ProfilerStep#)
|   lanes     1 process, 1 thread, 2 GPU streams
|
|   category             read as  events
|   cuda_driver                       20
|   cpu_op                            16
|   kernel                            12
|   gpu_memcpy                         4
|   gpu_user_annotation                4
|   python_function                    4
|   user_annotation                    4
|
|   lane                kind        events
|   python              thread          44
|   device 0 stream 13  GPU stream      12
|   device 0 stream 14  GPU stream       4
|   device 0 stream 1   GPU notes        4
|
|   damage    none
|
| next: strata report log   what is slow and why
|       strata lint log     what is wrong with the recording, with byte offsets
! strata: reading log/plugins/profile/2026_01_02/host.xplane.pb
$ strata table log
| times in us, averages in us, % of the total below
|
|   name                            calls  self CPU  CPU total  self GPU     %  GPU total  GPU avg
|   jit_step/fusion.0                   4         -       32.0       560  31.8        560      140
|   fusion_0                            4         -          -       560  31.8        560      140
|   jit_step/fusion.1                   4         -       32.0       560  31.8        560      140
|   jit_step/fusion.2                   4         -       32.0       560  31.8        560      140
|   fusion_1                            4         -          -       560  31.8        560      140
|   fusion_2                            4         -          -       560  31.8        560      140
|   MemcpyD2H (device -> pageable)      4         -          -      80.0   4.5       80.0     20.0
|   ProfilerStep*                       4      2540       3600         -     -       1680      420
|   PjitFunction(step)                  4       704        800         -     -       1680      420
|   cuStreamSynchronize                 4       240        240         -     -          -        -
|   cuLaunchKernelEx                   12      96.0       96.0         -     -          -        -
|   cuMemcpyDtoHAsync_v2                4      20.0       20.0         -     -          -        -
|   0 (on the device)                   1         -          -       900     -        900      900
|   1 (on the device)                   1         -          -       900     -        900      900
|   2 (on the device)                   1         -          -       900     -        900      900
|   3 (on the device)                   1         -          -       900     -        900      900
|
|   self CPU time total 3.60 ms   self GPU time total 1.76 ms
|
| next: strata table log --by shape --wide   which shapes cost most, with memory and FLOPs
|       strata kernels log                   kernels with occupancy and achieved rates
! strata: reading log/plugins/profile/2026_01_02/host.xplane.pb
$ strata steps log
| 4 steps, marked by the profiler (ProfilerStep#)
|   step    start    wall  blocked  GPU busy  GPU span    idle  kernels  copies  syncs
|     #0        -  900 us  60.0 us    440 us    570 us  130 us        3       1      1
|     #1  1000 us  900 us  60.0 us    440 us    570 us  130 us        3       1      1
|     #2  2000 us  900 us  60.0 us    440 us    570 us  130 us        3       1      1
|     #3  3000 us  900 us  60.0 us    440 us    570 us  130 us        3       1      1
|   median  900 us CPU wall, 4 launches
|
| next: strata stages log   what a step consists of
|       strata report log   what is slow and why
! strata: reading log/plugins/profile/2026_01_02/host.xplane.pb
$ strata syncs log | head -5
| the CPU waits 4 times at 1 place (4 steps): blocked 260 us, which leaves the GPU idle for 195 us
|   site  kind             blocked  exposed  calls per step queued  in
|      1  readback          260 us   195 us      4        1      0  step
|         train.py:40  cuStreamSynchronize
|   blocked: CPU time inside the calls; exposed: GPU idle time they cause
! strata: reading log/plugins/profile/2026_01_02/host.xplane.pb

# What AMD's rocprofv3 writes: JSON and databases of two generations have the same meaning.
$ strata info $DATA/../fuzz/corpus/rocprof/mi300.json | head -14
| $DATA/../fuzz/corpus/rocprof/mi300.json   rocprofv3 json, 7.17 kB, 19 events
|
|   recorded  by an unknown version
|   with      stacks no, shapes no, memory no, modules no, FLOPs no
|   device 0  AMD Instinct MI300X, 304 SMs
|   time      1.00 ms from first to last event
|   steps     not marked by the profiler; strata steps looks for them
|   lanes     1 process, 1 thread, 1 GPU stream
|
|   category         read as  events
|   cuda_runtime                   9
|   kernel                         8
|   gpu_memcpy                     1
|   user_annotation                1
$ strata syncs $DATA/../fuzz/corpus/rocpd/plain.db | head -5
| the CPU waits 1 time at 1 place: blocked 40.0 us, which leaves the GPU idle for 0
|   site  kind             blocked  exposed  calls per step queued  in
|      1  readback         40.0 us        -      1        -      0  training loop
|         training loop  hipMemcpy
|   blocked: CPU time inside the calls; exposed: GPU idle time they cause
$ for f in rocprof/mi300.json rocpd/plain.db rocpd/tracks.db; do strata table $DATA/../fuzz/corpus/$f --json | md5sum; done | sort -u | wc -l
| 1

# What is not read is named, with the command that helps.
$ printf '\001\002\003\004binary' > x.nsys-rep; strata info x.nsys-rep
! strata: x.nsys-rep: a report of Nsight Systems, which is not read; export it: nsys export -t sqlite FILE
? 3
$ printf 'NVR\000\001\002' > x.ncu-rep; strata report x.ncu-rep
! strata: x.ncu-rep: a report of Nsight Compute, on single kernels, which is not read; look into it: strata dive FILE
? 3
$ printf '\001\002\003\004' > x.qdstrm; strata info x.qdstrm
! strata: x.qdstrm: an unfinished report of Nsight Systems, which is not read; finish it (QdstrmImporter -i FILE) and export that: nsys export -t sqlite REPORT.nsys-rep
? 3
$ printf 'PK\003\004\024\000' > x.zip; strata info x.zip
! strata: x.zip: a zip archive, which is not read; unpack it and give the trace in it
? 3
$ printf '\211HDF\r\n\032\n' > x.h5; strata info x.h5
! strata: x.h5: an HDF5 file, which is not read; if it is of Nsight Systems, export its report again: nsys export -t sqlite REPORT.nsys-rep
? 3
$ printf '\030\000\000\000\000\000\000\000\243\177\113\042\011\000\000\200\215\221\055\331\101\032\015brain.Event:2' > events.out.tfevents.1; strata info events.out.tfevents.1
! strata: events.out.tfevents.1: an event file of TensorBoard, which is not read; the profile of the run is in the log folder, in plugins/profile: give the log folder
? 3
$ printf '\200\004\225\020\000\000' > x.pkl; strata info x.pkl
! strata: x.pkl: a Python pickle that is not a memory snapshot of PyTorch, which is not read; traces come from export_chrome_trace()
? 3
$ printf '\012\004\010\001\020\002\012\004\010\003\020\004' | gzip > x.pb.gz; strata info x.pb.gz
! strata: x.pb.gz: a pprof profile, which is not read; it has samples, and no times of events
? 3
$ printf '"Kind","Agent_Id","Kernel_Name","Start_Timestamp"\n' > k.csv; strata info k.csv
! strata: k.csv: a CSV table of rocprofv3, which is not read; record again: rocprofv3 --sys-trace --output-format pftrace
? 3
$ printf '{"schema": "1.1.1-chakra.0.0.4", "pid": 7, "nodes": []}' > et.json; strata info et.json
! strata: et.json: an execution trace of PyTorch (Chakra) without times, which is not read; record a timeline: torch.profiler's export_chrome_trace(), or strata run
? 3
$ sqlite3 x.db 'CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, cbid); CREATE TABLE StringTable(_id_, value)' 2>/dev/null || python3 -c "import sqlite3; c=sqlite3.connect('x.db'); c.execute('CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, cbid)'); c.execute('CREATE TABLE StringTable(_id_, value)'); c.commit()"
$ strata info x.db
! strata: x.db: a recording of nvprof, which is not read; record again with strata run or nsys
? 3
# A trace with such a name is a trace.
$ cp $DATA/tiny.json x.qdrep; strata info x.qdrep | head -1
| x.qdrep   kineto json, 7.81 kB, 31 events

# rocmProfileData.
$ strata info $DATA/../fuzz/corpus/rocpd/trace.rpd | head -17
| $DATA/../fuzz/corpus/rocpd/trace.rpd   rpd sqlite, 6.14 kB, 19 events
|
|   recorded  by an unknown version
|   with      stacks no, shapes no, memory no, modules no, FLOPs no
|   device 0  GPU
|   time      1.00 ms from first to last event
|   steps     not marked by the profiler; strata steps looks for them
|   lanes     1 process, 1 thread, 1 GPU stream
|
|   category         read as  events
|   cuda_runtime                   9
|   kernel                         8
|   gpu_memcpy                     1
|   user_annotation                1
|
|   lane               kind        events
|   tid 77             thread          10
$ strata kernels $DATA/../fuzz/corpus/rocpd/trace.rpd | head -5
| 8 kernels, 1 copy, 0 memsets: 420 us of device work; totals in us, single calls in us
|
|   kernel                        calls  total     %  median   p95  occ %  limited by  achieved
|   vec_add                           8    400  95.2    50.0  50.0      -  -                  -
|   Memcpy DtoH (Device -> Host)      1   20.0   4.8    20.0  20.0      -  -                  -

# Every format may be compressed; a memory snapshot is no trace, compressed or not.
$ for f in nsys/sample.sqlite rocpd/tracks.db rocpd/trace.rpd xplane/cuda.xplane.pb strata/tiny.strata pftrace/own.pftrace rocprof/mi300.json; do gzip -nc $DATA/../fuzz/corpus/$f > packed.gz; strata info packed.gz | head -1 | cut -d, -f1,3; done
| packed.gz   nsys sqlite, 17 events
| packed.gz   rocpd sqlite, 19 events
| packed.gz   rpd sqlite, 19 events
| packed.gz   xplane, 64 events
| packed.gz   strata, 31 events
| packed.gz   perfetto, 35 events
| packed.gz   rocprofv3 json, 19 events
$ gzip -nc $DATA/memory/out_of_memory.pickle > memory.pickle.gz; strata report memory.pickle.gz
! strata: memory.pickle.gz: a memory snapshot of PyTorch, not a trace: strata memory shows who holds the memory
? 3
$ gzip -nc $DATA/../fuzz/corpus/nsys/sample.sqlite | head -c 900 > cut.gz; strata info cut.gz
! strata: cut.gz: cut short, or damaged: gzip ends early
? 3
$ mkdir packed; gzip -nc $DATA/../fuzz/corpus/rocpd/tracks.db > packed/tracks.db.gz; strata info packed | head -1
| packed   rocpd sqlite, 15.4 kB, 19 events
! strata: reading packed/tracks.db.gz
$ strata info $DATA/nsys_parquet | head -1
| $DATA/nsys_parquet   nsys parquet, 16.5 kB, 17 events

# What a pipe brings is read once.
$ mkfifo p; gzip -nc $DATA/tiny.json > p & strata info p | head -1
| p   kineto json (7.81 kB of JSON), 31 events
$ cat $DATA/memory/out_of_memory.pickle | strata memory - | head -2
| standard input   PyTorch memory snapshot   4.46 kB   1 device   66 events   1 segment
|
$ cat $DATA/memory/out_of_memory.pickle > p & strata info p | head -1
| p   PyTorch memory snapshot   4.46 kB   1 device   66 events   1 segment
$ printf '\377\376{\000' > wide.json; strata info wide.json
! strata: wide.json: text in UTF-16, which is not read; convert it: iconv -f UTF-16 -t UTF-8 FILE
? 3

# What is exported reads as the same tables, whatever names the format gives its args.
$ for f in xplane/cuda.xplane.pb pftrace/torch.pftrace pftrace/own.pftrace rocprof/mi300.json rocpd/tracks.db rocpd/trace.rpd nsys/sample.sqlite; do for to in pftrace json; do strata export $DATA/../fuzz/corpus/$f -o again.$to >out; for c in table kernels gaps; do strata $c --json $DATA/../fuzz/corpus/$f > one; strata $c --json again.$to > two; cmp -s one two || echo $f as $to: $c differs; done; done; done 2>err
