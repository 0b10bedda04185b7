# A Perfetto trace as PyTorch writes it: device work as render stages, no categories.
$ strata kernels $DATA/../fuzz/corpus/pftrace/torch.pftrace.gz
| 380 us of GPU work: 95 % gemm, 5 % copy (6 kernels, 1 copy, 0 memsets)
|
|   kernel  calls    total   share   median      p95  occupancy  GB/s
|   sgemm       6   360 us  94.7 %  60.0 us  60.0 us          -     -
|   Memcpy      1  20.0 us   5.3 %  20.0 us  20.0 us          -  0.20
|
| next: strata kernels $DATA/../fuzz/corpus/pftrace/torch.pftrace.gz --by op
|       strata kernels $DATA/../fuzz/corpus/pftrace/torch.pftrace.gz --roof
$ strata syncs $DATA/../fuzz/corpus/pftrace/torch.pftrace
| the CPU waits 1 time at 1 place (1 step): blocked 45.0 us, which leaves the GPU idle for 0
|   site  kind      blocked  exposed  calls  per step  queue depth  drains  in
|      1  explicit  45.0 us        -      1      1.00            -  -       ProfilerStep#1
|         ProfilerStep#1  cudaStreamSynchronize
|   blocked: CPU time inside the calls; exposed: GPU idle time they cause
|   drains: the call waits for all queued work
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
|   steps     not marked by the program; strata steps looks for them
|   threads   1 process, 1 thread, 0 GPU streams
|
|   category        read as  events
|   (none)          other         3
|   cat             other         1
|   flows (arrows)                1
|
|   thread or stream  kind     events
|   worker            thread        3
|   mem               counter       1
|
|   damage    none
|
| next: strata report $DATA/../fuzz/corpus/pftrace/sdk.pftrace
|       strata info $DATA/../fuzz/corpus/pftrace/sdk.pftrace --lint
$ head -c 700 $DATA/../fuzz/corpus/pftrace/torch.pftrace > cut.pftrace; strata info cut.pftrace | tail -6
|
|   damage    1 file cut short
|             9 begin or end events without a partner
|
| next: strata report cut.pftrace        what is slow and why
|       strata info cut.pftrace --lint   what is wrong with the recording, with byte offsets
! strata: cut.pftrace: ends inside an event at byte 700 (file cut short): 9 events read, the last one lost
! strata: cut.pftrace: begin or end events without a partner: 9 (first at byte 652); strata info --lint lists all

# A profile of JAX: HLO names, steps, TraceMe, Python; in the folder where its tools keep it.
$ mkdir -p log/plugins/profile/2026_01_02; cp $DATA/../fuzz/corpus/xplane/cuda.xplane.pb log/plugins/profile/2026_01_02/host.xplane.pb
$ strata info log
| log   xplane, 3.61 kB, 64 events
|
|   recorded  by an unknown version; 2025-10-09 08:53:20 UTC
|   with      stacks yes, shapes no, memory no, modules no, FLOPs no
|   device 0  Nvidia, 85.9 GB, 132 SMs, compute capability 9.0
|   time      3.90 ms from first to last event
|   steps     4 marked by the program (ProfilerStep#)
|   threads   1 process, 1 thread, 2 GPU streams
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
|   thread or stream    kind        events
|   python              thread          44
|   device 0 stream 13  GPU stream      12
|   device 0 stream 14  GPU stream       4
|   device 0 stream 1   GPU labels       4
|
|   damage    none
|
| next: strata report log        what is slow and why
|       strata info log --lint   what is wrong with the recording, with byte offsets
! strata: reading log/plugins/profile/2026_01_02/host.xplane.pb
$ strata table log
| 1.76 ms of GPU time, most in jit_step/fusion.0 (31.8 %); 3.60 ms of CPU time, most in ProfilerStep*
| (70.6 %)
|
|   name                            calls  self CPU  CPU total  self GPU  of GPU  GPU total  GPU mean
|   jit_step/fusion.0                   4         -    32.0 us    560 us  31.8 %     560 us    140 us
|   fusion_0                            4         -          -    560 us  31.8 %     560 us    140 us
|   jit_step/fusion.1                   4         -    32.0 us    560 us  31.8 %     560 us    140 us
|   jit_step/fusion.2                   4         -    32.0 us    560 us  31.8 %     560 us    140 us
|   fusion_1                            4         -          -    560 us  31.8 %     560 us    140 us
|   fusion_2                            4         -          -    560 us  31.8 %     560 us    140 us
|   MemcpyD2H (device -> pageable)      4         -          -   80.0 us   4.5 %    80.0 us   20.0 us
|   ProfilerStep*                       4   2540 us    3600 us         -       -    1680 us    420 us
|   PjitFunction(step)                  4    704 us     800 us         -       -    1680 us    420 us
|   cuStreamSynchronize                 4    240 us     240 us         -       -          -         -
|   cuLaunchKernelEx                   12   96.0 us    96.0 us         -       -          -         -
|   5 more rows hold the other 0.6 % (--limit 0 shows all)
|   a kernel has a row of its own beside the operator that launches it, as in torch's table
|
| next: strata table log --by shape --wide   which shapes cost most, with memory and FLOPs
|       strata kernels log                   kernels with occupancy and achieved rates
! strata: reading log/plugins/profile/2026_01_02/host.xplane.pb
$ strata steps log
| 4 steps of 900 us (1,111 steps per second), as recorded
|   marked by the program (ProfilerStep#)
|   step    start    wall  blocked  GPU busy  GPU span  span idle  kernels  copies  syncs
|      0        -  900 us  60.0 us    440 us    570 us     130 us        3       1      1
|      1  1000 us  900 us  60.0 us    440 us    570 us     130 us        3       1      1
|      2  2000 us  900 us  60.0 us    440 us    570 us     130 us        3       1      1
|      3  3000 us  900 us  60.0 us    440 us    570 us     130 us        3       1      1
|   median: 900 us on the CPU, 4 launches
|
| next: strata stages log   what a step consists of
|       strata report log   what is slow and why
! strata: reading log/plugins/profile/2026_01_02/host.xplane.pb
$ strata syncs log | head -5
| the CPU waits 4 times at 1 place (4 steps): blocked 260 us, which leaves the GPU idle for 195 us
|   site  kind      blocked  exposed  calls  per step  queue depth  drains  in
|      1  readback   260 us   195 us      4      1.00            -  -       step
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
|   steps     not marked by the program; strata steps looks for them
|   threads   1 process, 1 thread, 1 GPU stream
|
|   category         read as  events
|   cuda_runtime                   9
|   kernel                         8
|   gpu_memcpy                     1
|   user_annotation                1
$ strata syncs $DATA/../fuzz/corpus/rocpd/plain.db | head -5
| the CPU waits 1 time at 1 place: blocked 40.0 us, which leaves the GPU idle for 0
|   site  kind      blocked  exposed  calls  per step  queue depth  drains  in
|      1  readback  40.0 us        -      1         -            -  -       training loop
|         training loop  hipMemcpy
|   blocked: CPU time inside the calls; exposed: GPU idle time they cause
$ for f in rocprof/mi300.json rocpd/plain.db rocpd/tracks.db; do strata table $DATA/../fuzz/corpus/$f --json | md5sum; done | sort -u | wc -l
| 1

# Older traces of AMD name no categories; arrows lead from calls to their work.
$ printf '[ {}\n,{"pid":"7","tid":"7","name":"hipMemcpy","ts":"100","dur":"50","ph":"X","args":{"desc":""}}\n,{"pid":"7","tid":"7","name":"hipLaunchKernel","ts":"160","dur":"5","ph":"X","args":{"desc":""}}\n,{"pid":"2","tid":"0","name":"CopyHostToDevice","ts":"110","dur":"30","ph":"X","args":{"desc":"CopyHostToDevice"}}\n,{"pid":"2","tid":"0","name":"gemm","ts":"170","dur":"20","ph":"X","args":{"desc":"KernelExecution"}}\n,{"pid":"7","tid":"7","cat":"api_op","name":"api_op","ts":"110","id":"1","ph":"s"}\n,{"pid":"2","tid":"0","cat":"api_op","name":"api_op","ts":"110","id":"1","ph":"f"}\n,{"pid":"7","tid":"7","cat":"api_op","name":"api_op","ts":"160","id":"2","ph":"s"}\n,{"pid":"2","tid":"0","cat":"api_op","name":"api_op","ts":"170","id":"2","ph":"f"}\n]' > rpd.json
$ strata info rpd.json | sed -n '/category/,/^$/p'; strata info rpd.json --json | grep without_launch; strata info rpd.json --lint | head -1
|   category        read as       events
|   hip_runtime     cuda_runtime       2
|   gpu_memcpy                         1
|   kernel                             1
|   flows (arrows)                     4
|
|   "device_work_without_launch": 0,
|   no problems: the file is complete and the recording is consistent
$ printf '{"traceEvents":[{}\n,{"ph":"X","name":"hipLaunchKernel","ts":"5","dur":"3","pid":"2","tid":"4","args":{"BeginNs":"5000","Name":"hipLaunchKernel"}}\n,{"ph":"X","name":"gemm","ts":"10","dur":"5","pid":"6","tid":"1","args":{"dev-id":"0","queue-id":"1"}}\n]}' > rocprof.json
$ strata info rocprof.json | sed -n '/category/,/^$/p'
|   category     read as       events
|   hip_runtime  cuda_runtime       1
|   kernel                          1
|

# What is not read is named, with the command that helps.
$ printf '\001\002\003\004binary' > x.nsys-rep; strata info x.nsys-rep
! strata: x.nsys-rep: an Nsight Systems report, which is not read; export it: nsys export -t sqlite FILE
? 3
$ printf 'NVR\000\001\002' > x.ncu-rep; strata report x.ncu-rep
! strata: x.ncu-rep: an Nsight Compute report, on single kernels, which is not read; look into it: strata dive FILE
? 3
$ printf '\001\002\003\004' > x.qdstrm; strata info x.qdstrm
! strata: x.qdstrm: an unfinished Nsight Systems report, which is not read; finish it (QdstrmImporter -i FILE) and export that: nsys export -t sqlite REPORT.nsys-rep
? 3
$ printf 'PAR1\025\004' > x.parquet; strata info x.parquet
! strata: x.parquet: a Parquet file, which is not read; if it is of Nsight Systems, export its report again: nsys export -t sqlite REPORT.nsys-rep
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
! strata: x.pkl: a Python pickle that is not a PyTorch memory snapshot, which is not read; traces come from export_chrome_trace()
? 3
$ printf '\012\004\010\001\020\002\012\004\010\003\020\004' | gzip > x.pb.gz; strata info x.pb.gz
! strata: x.pb.gz: a pprof profile, which is not read; it has samples, and no times of events
? 3
$ printf '"Domain","Function","Process_Id","Start_Timestamp"\n' > k.csv; strata info k.csv
! strata: k.csv: a CSV table of rocprofv3, which is not read; record again: rocprofv3 --sys-trace --output-format pftrace
? 3
$ printf '{"schema": "1.1.1-chakra.0.0.4", "pid": 7, "nodes": []}' > et.json; strata info et.json
! strata: et.json: a PyTorch execution trace (Chakra) without times, which is not read; record a timeline: torch.profiler's export_chrome_trace(), or strata run
? 3
$ printf '[[1726077563878112, 1726077563878112], [[0, 512], [0, 512]]]' > timeline.json; strata report timeline.json
! strata: timeline.json: a memory timeline of torch.profiler (export_memory_timeline), without events, which is not read; record a snapshot (torch.cuda.memory._dump_snapshot()) for strata memory, or a trace
? 3
$ printf '[\n{"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 9}]' > array.json; strata info array.json | head -1
| array.json   kineto json, 90 B, 1 event
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
|   steps     not marked by the program; strata steps looks for them
|   threads   1 process, 1 thread, 1 GPU stream
|
|   category         read as  events
|   cuda_runtime                   9
|   kernel                         8
|   gpu_memcpy                     1
|   user_annotation                1
|
|   thread or stream   kind        events
|   tid 77             thread          10
$ strata kernels $DATA/../fuzz/corpus/rocpd/trace.rpd | head -5
| 420 us of GPU work: 95 % other, 5 % copy (8 kernels, 1 copy, 0 memsets)
|
|   kernel                        calls    total   share   median      p95  occupancy
|   vec_add                           8   400 us  95.2 %  50.0 us  50.0 us          -
|   Memcpy DtoH (Device -> Host)      1  20.0 us   4.8 %  20.0 us  20.0 us          -
# A fill is no kernel.
$ cp $DATA/../fuzz/corpus/rocpd/trace.rpd fills.rpd; python3 -c 'import sqlite3; d = sqlite3.connect("fills.rpd"); d.execute("update rocpd_string set string = ? where id = 8", ("FillBuffer",)); d.execute("update rocpd_op set opType_id = 8, description_id = 7 where id = 1"); d.execute("delete from rocpd_op where id = 99"); d.commit()'; strata kernels fills.rpd | head -1
| 420 us of GPU work: 83 % other, 12 % memset, 5 % copy (7 kernels, 1 copy, 1 memset)

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
! strata: memory.pickle.gz: a PyTorch memory snapshot, not a trace: strata memory shows which code holds the memory
? 3
$ gzip -nc $DATA/../fuzz/corpus/nsys/sample.sqlite | head -c 900 > cut.gz; strata info cut.gz
! strata: cut.gz: cut short, or damaged: gzip ends early
? 3
$ mkdir packed; gzip -nc $DATA/../fuzz/corpus/rocpd/tracks.db > packed/tracks.db.gz; strata info packed | head -1
| packed   rocpd sqlite, 15.4 kB, 19 events
! strata: reading packed/tracks.db.gz

# What a pipe brings is read once.
$ mkfifo p; gzip -nc $DATA/tiny.json > p & strata info p | head -1
| p   kineto json (7.81 kB of JSON), 31 events
$ cat $DATA/memory/out_of_memory.pickle | strata memory - | head -2
| standard input   PyTorch memory snapshot   4.46 kB   1 device   66 events   1 segment
|
$ cat $DATA/memory/out_of_memory.pickle > p & strata info p | head -1
| p   PyTorch memory snapshot   4.46 kB   1 device   66 events   1 segment
$ printf 'CUPMRBUF\002\000\000\000\000\000\000\000' > cupti_monitor_raw_buffers.bin; strata info cupti_monitor_raw_buffers.bin
! strata: cupti_monitor_raw_buffers.bin: a file of raw buffers by torch's CUPTI monitor (its names are addresses of a process), which is not read; use the events of its trace window (end_trace_window), or record with strata run
? 3
$ printf '\377\376{\000' > wide.json; strata info wide.json
! strata: wide.json: text in UTF-16, which is not read; convert it: iconv -f UTF-16 -t UTF-8 FILE
? 3
$ for n in 2 400; do head -c $n $DATA/wan/wan_before_compile.json.gz > cut.json.gz; strata info cut.json.gz; done
! strata: cut.json.gz: the compressed file is cut short before the first event of a trace
! strata: cut.json.gz: the compressed file is cut short before the first event of a trace
? 3

# What is exported reads as the same tables, whatever names the format gives its args.
$ for f in xplane/cuda.xplane.pb pftrace/torch.pftrace pftrace/own.pftrace rocprof/mi300.json rocpd/tracks.db rocpd/trace.rpd nsys/sample.sqlite; do for to in pftrace json; do strata export $DATA/../fuzz/corpus/$f -o again.$to >out; for c in table kernels gaps; do strata $c --json $DATA/../fuzz/corpus/$f > one; strata $c --json again.$to > two; cmp -s one two || echo $f as $to: $c differs; done; done; done 2>err
