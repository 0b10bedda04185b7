# What a command writes never takes the place of what it reads.
$ cp $DATA/tiny.json t.json; strata export t.json -o t.json; cmp t.json $DATA/tiny.json && echo untouched
| untouched
! strata: --output names the input itself, 't.json'; give another name
$ ln -s t.json link.json; strata export t.json -o link.json; cmp t.json $DATA/tiny.json && echo untouched
| untouched
! strata: --output names the input itself, 't.json'; give another name
$ strata report t.json --html t.json; cmp t.json $DATA/tiny.json && echo untouched
| untouched
! strata: --html names the input itself, 't.json'; give another name

# Nor do the tables of one trace take the place of another's, unless that is wanted.
$ mkdir -p a/run b/run; cp t.json a/run; cp $DATA/torch/gpu_graph.json.gz b/run
$ strata export --to tables a/run/t.json -o tables; strata export --to tables a/run/t.json -o tables
| tables   1 rank, 8 tables each
|
| next: strata sql tables --query ranks
| tables   1 rank, 8 tables each
|
| next: strata sql tables --query ranks
$ strata export --to tables b/run/gpu_graph.json.gz -o tables 2>&1 | sed "s|$PWD/||g"
| strata: tables holds rank 0 of run run of another trace, a/run/t.json; give this one its own --run or --rank, or --replace
$ strata export --to tables b/run/gpu_graph.json.gz -o tables --replace
| tables   1 rank, 8 tables each
|
| next: strata sql tables --query ranks

# What is offered for copying is one word to a shell, whatever the file is called.
$ cp t.json 'a $(touch ran);b.json'; strata info 'a $(touch ran);b.json' | grep strata; ls ran 2>&1
| next: strata report 'a $(touch ran);b.json'        what is slow and why
|       strata info 'a $(touch ran);b.json' --lint
| ls: cannot access 'ran': No such file or directory
? 2
$ strata export t.json -o 'it'"'"'s.strata' | tail -n 1
| next: strata report 'it'\''s.strata'

# A pipe that nobody writes to, or a device, in the place of a file: refused, not waited for.
$ mkdir -p run/rings; mkfifo run/trace.strata; timeout 20 strata report run
! strata: run/trace.strata: this is a pipe or a device, expected a trace file
? 3
$ rm run/trace.strata; mkfifo run/timing.json; timeout 20 strata stages run
! strata: run: cannot read any of its 1 timing files
? 3
$ rm run/timing.json; mkfifo run/rings/h-1-1.proc run/rings/h-1-1.0.ring; timeout 20 strata info run
| run   strata recording, 0 events
|
|   recorded  by strata
|   with      stacks no, shapes no, memory no, modules no, FLOPs no
|   device    none listed
|   time      0 from first to last event
|   steps     not marked by the program; strata steps looks for them
|   threads   0 processes, 0 threads, 0 GPU streams
|
|   category  read as  events
|
|   thread or stream  kind  events
|
|   damage    1 unreadable events, skipped
|   metadata  strata_recordings
|             (names only; strata export --strip removes their values)
|
| next: strata report run        what is slow and why
|       strata info run --lint   what is wrong with the recording, with byte offsets
! strata: run: unreadable events, skipped: 1 (first at byte 0); strata info --lint lists all
$ ln -s /dev/zero zero.json; strata info zero.json
! strata: zero.json: this is a device, expected a trace file
? 3

# A name from the trace starts no image and no link in a report for a web page.
$ echo '{"deviceProperties":[{"id":0,"name":"![x](//evil.example/p)"}],"traceEvents":[
> {"ph":"X","cat":"kernel","name":"k","ts":5,"dur":9,"pid":0,"tid":7,"args":{"correlation":1}},
> {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":0,"dur":4,"pid":1,"tid":1,"args":{"correlation":1}}]}' > m.json
$ strata report m.json --md | head -n 1
| # m.json   !\[x\](//evil.example/p)   14.0 us

# Copies that take no time have no rate.
$ echo '{"traceEvents":[{"cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","ts":0,"dur":-5,
> "args":{"bytes":4000000000}}]}' > c.json; strata report c.json --set report_gain_pct=0 > /dev/null
! strata: c.json: negative durations, set to 0: 1 (first at byte 16); strata info --lint lists all

# Nor does a name end the code that it stands in.
$ echo '[{"ph":"X","cat":"cpu_op","name":"x`![i](//evil)`|\u001b[31m","ts":0,"dur":50000,"pid":1,"tid":1}]' > n.json
$ strata report n.json --md | grep evil | cat -v
| No GPU work in this trace: 50.0 ms of CPU time. Largest part: x\`!\[i\](//evil)\`\|?\[31m, 50.0 ms in 1 call (100 %).
| - `x'![i](//evil)'\|?[31m`: 50.0 ms itself in 1 calls (100 %)

# What is computed in no time has no rate.
$ echo '[{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":5,"dur":0,"pid":1,"tid":1,"args":{
> "Input Dims":[[8,8],[8,8]],"Input type":["float","float"]}}]' > mm.json; strata report -v mm.json | grep FLOP
|   1.02e-06 GFLOP

# A page of a trace that has no span: its times count from 0.
$ echo '[{"ph":"C","name":"x","ts":5,"args":{"v":1}},{"ph":"i","name":"i","ts":7}]' > i.json
$ strata report i.json --html i.html > /dev/null 2>&1 && ls i.html
| i.html

# A name that is stored once and stands in every event: what is written stays in proportion to the file.
$ python3 -c "
> def v(x): return bytes([x]) if x < 128 else bytes([x & 127 | 128]) + v(x >> 7)
> def f(n, x): return v(n << 3) + v(x)
> def b(n, s): return v(n << 3 | 2) + v(len(s)) + s
> name = b(12, b(2, f(1, 1) + b(2, b'n' * 100000)))
> track = b(60, f(1, 1) + b(4, f(1, 100) + f(2, 100) + b(5, b'main')))
> text = b(1, f(8, 1000) + f(10, 7) + f(13, 3) + name + track)
> for i in range(2000):
>     text += b(1, f(8, 2000 + i * 20) + f(10, 7) + f(13, 2) + b(11, f(9, 1) + f(11, 1) + f(10, 1)))
>     text += b(1, f(8, 2010 + i * 20) + f(10, 7) + f(13, 2) + b(11, f(9, 2) + f(11, 1)))
> open('long.pftrace', 'wb').write(text)"
$ strata export long.pftrace -o long.json; strata export long.pftrace -o long.csv.gz; ls long.*
| long.pftrace
! strata: this would be more than 80.6 MB, out of proportion to the trace: many of its events repeat a long text; strata export --to sqlite writes each name once
! strata: this would be more than 80.6 MB, out of proportion to the trace: many of its events repeat a long text; strata export --to sqlite writes each name once
$ strata export long.pftrace -o long.strata | head -n 1; strata report long.strata | head -n 1 | cut -c 1-40
| long.strata   strata   2,000 events   194 kB
| long.strata   40.0 us

# Names command no terminal in formats that people look at in one either.
$ python3 -c "print('[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\u009b31m\x7f\u202eb\x1b[31m\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":5}]')" > c.json
$ strata export --to csv -o - c.json 2>/dev/null | tail -n 1 | cut -d, -f 4 | cat -v
| "aM-oM-?M-=31mM-oM-?M-=M-oM-?M-=bM-oM-?M-=[31m"
$ strata export --to folded --of cpu -o - c.json 2>/dev/null | cat -v
| thread 1;aM-oM-?M-=31mM-oM-?M-=M-oM-?M-=bM-oM-?M-=[31m 5000
