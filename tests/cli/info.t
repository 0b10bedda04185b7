$ cp $DATA/tiny.json $DATA/torch/threads.json.gz .
$ strata info tiny.json
| tiny.json   kineto json, 7.81 kB, 31 events
|
|   recorded  CUDA 13.0, driver for CUDA 13.0; 2026-10-01 12:17:06 UTC
|   with      stacks yes, shapes yes, memory yes, modules no, FLOPs no
|   device 0  NVIDIA H200, 150 GB, 132 SMs, compute capability 9.0
|   time      400 us from first to last event, window 600 us
|   steps     2 marked by the program (ProfilerStep#)
|   threads   1 process, 1 thread, 1 GPU stream
|
|   category           read as  events
|   cpu_op                           6
|   cuda_runtime                     6
|   python_function                  3
|   (none)             other         2
|   cpu_instant_event  memory        2
|   gpu_memcpy                       2
|   kernel                           2
|   user_annotation                  2
|   Trace              window        1
|   overhead                         1
|   flows (arrows)                   4
|
|   thread or stream        kind        events
|   thread 499 (python3)    thread          19
|   device 0 stream 7       GPU stream       4
|   tid 0                   overhead         1
|   -                       other            1
|   PyTorch Profiler        other            1
|   Trace PyTorch Profiler  other            1
|
|   damage    none
|
| next: strata report tiny.json        what is slow and why
|       strata info tiny.json --lint   what is wrong with the recording, with byte offsets

$ strata info threads.json.gz
| threads.json.gz   kineto json, 2.57 kB (30.0 kB of JSON), 110 events
|
|   recorded  by an unknown version; 2026-11-15 02:49:23 UTC
|   with      stacks no, shapes no, memory yes, modules no, FLOPs no
|   device    none listed
|   time      19.7 ms from first to last event, window 26.3 ms
|   steps     not marked by the program; strata steps looks for them
|   threads   1 process, 4 threads, 0 GPU streams
|
|   category         read as  events
|   cpu_op                       104
|   user_annotation                3
|   (none)           other         2
|   Trace            window        1
|
|   thread or stream        kind    events
|   thread 17283 (python)   thread       5
|   thread 17532 (python)   thread      34
|   tid 17533               thread      34
|   thread 17534 (python)   thread      34
|   -                       other        1
|   PyTorch Profiler        other        1
|   Trace PyTorch Profiler  other        1
|
|   damage    none
|
| next: strata report threads.json.gz        what is slow and why
|       strata info threads.json.gz --lint   what is wrong with the recording, with byte offsets

# Metadata of unknown meaning may hold secrets: only its name is shown.
$ echo '{"environment": {"TOKEN": "hunter2"}, "traceEvents": [{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]}' > secret.json
$ strata info secret.json
| secret.json   kineto json, 109 B, 1 event
|
|   recorded  by an unknown version
|   with      stacks no, shapes no, memory no, modules no, FLOPs no
|   device    none listed
|   time      2.00 us from first to last event
|   steps     not marked by the program; strata steps looks for them
|   threads   1 process, 1 thread, 0 GPU streams
|
|   category  read as  events
|   (none)    other         1
|
|   thread or stream  kind    events
|   tid 1             thread       1
|
|   damage    none
|   metadata  environment
|             (names only; strata export --strip removes their values)
|
| next: strata report secret.json        what is slow and why
|       strata info secret.json --lint   what is wrong with the recording, with byte offsets
$ strata info secret.json --json | grep -c hunter2
| 0
? 1

# The same from the native file, and from a pipe.
$ strata export tiny.json -o tiny.strata > /dev/null
$ strata info tiny.strata | sed 's/tiny.strata/tiny.json/' | tail -n +2 > native.txt
$ strata info tiny.json | tail -n +2 | diff -w native.txt -
$ strata info - < tiny.json | head -1
| standard input   kineto json (7.81 kB of JSON), 31 events

$ strata info nowhere.json
! strata: nowhere.json: cannot open: No such file or directory
? 3

# A folder of traces, as torch's tensorboard_trace_handler writes it: the newest one is read.
$ mkdir -p log runs/1 runs/2 nothing && cp $DATA/tiny.json log/host_1.pt.trace.json && gzip -c $DATA/tiny.json > log/host_2.pt.trace.json.gz
$ touch -d '2026-01-01' log/host_2.pt.trace.json.gz && echo '{"stages": {}}' > log/timing.json && echo text > log/notes.txt
$ rm log/timing.json; strata info log | head -1
| log   kineto json (7.81 kB of JSON), 31 events
! strata: log has 2 traces; reading the newest, log/host_1.pt.trace.json (strata report --ranks reads all, if they are ranks of one program)
$ strata stages log | tail -3
| next: strata stages log --wide   times of single calls, device and memory
|       strata gaps log            why the GPU was idle
|       strata syncs log           where the CPU waits, and what it costs
! strata: log has 2 traces; reading the newest, log/host_1.pt.trace.json (strata report --ranks reads all, if they are ranks of one program)
$ cp log/host_2.pt.trace.json.gz runs/2/x.json.gz; strata info runs | head -1
| runs   kineto json (7.81 kB of JSON), 31 events
! strata: reading runs/2/x.json.gz
$ strata info nothing
! strata: nothing: this folder has no recordings and no traces; expected a trace file or a run folder
? 2

# A run folder has no recordings, or is not there.
$ mkdir empty && strata info empty
! strata: empty: this folder has no recordings and no traces; expected a trace file or a run folder
? 2
$ strata export empty --to timing
! strata: empty: this folder has no recordings; expected a run folder
? 2
$ strata export nowhere --to timing
! strata: nowhere: this folder has no recordings; expected a run folder
? 2
