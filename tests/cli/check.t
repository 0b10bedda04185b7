$ ln -s $DATA/whatif/pingpong_v0.json.gz v0.json.gz
$ ln -s $DATA/whatif/pingpong_v1.json.gz v1.json.gz

# A budget for CI: kept, broken, and written wrongly.
$ printf '# the loop\nkernels_per_step <= 30\nstage cache_context cpu_ms <= 100\n' > kept.txt
$ strata check v0.json.gz --budget kept.txt
|   limit                              measured  verdict
|   kernels_per_step <= 30                   29  ok
|   stage cache_context cpu_ms <= 100      11.7  ok
|
| 2 of 2 limits kept
$ printf 'syncs_per_step <= 0\ngpu_idle_pct <= 10\n' > broken.txt
$ strata check v0.json.gz --budget broken.txt
|   limit                measured  verdict
|   syncs_per_step <= 0         1  FAIL
|   gpu_idle_pct <= 10      47.93  FAIL
|
| 0 of 2 limits kept, 2 failed
|
| next: strata report v0.json.gz   why, and what to do about it
? 1
$ strata check v1.json.gz --budget broken.txt
|   limit                measured  verdict
|   syncs_per_step <= 0         0  ok
|   gpu_idle_pct <= 10      23.15  FAIL
|
| 1 of 2 limits kept, 1 failed
|
| next: strata report v1.json.gz   why, and what to do about it
? 1
$ printf 'sinks_per_step <= 0\n' > wrong.txt && strata check v0.json.gz --budget wrong.txt
! strata: wrong.txt: line 1: unknown metric 'sinks_per_step'. Did you mean 'syncs_per_step'?
? 2
$ printf 'syncs_per_step < 0\n' > wrong.txt && strata check v0.json.gz --budget wrong.txt
! strata: wrong.txt: line 1: expected 'METRIC <= NUMBER', found 'syncs_per_step < 0'
? 2
$ strata check v0.json.gz
! strata: check needs --budget FILE; see strata check --help
? 2
$ strata check v0.json.gz --budget none.txt
! strata: none.txt: cannot open: No such file or directory
? 2

# A limit may be a share of what another trace has.
$ printf 'wall_ms <= 105 %%\nkernels_per_step <= 100%%\nsyncs_per_step <= 0\n' > relative.txt
$ strata check v1.json.gz --budget relative.txt --baseline v0.json.gz
|   limit                     measured  verdict  baseline
|   wall_ms <= 105 %             33.26  ok          40.96
|   kernels_per_step <= 100%        29  ok             29
|   syncs_per_step <= 0              0  ok              -
|
| 3 of 3 limits kept
$ strata check v0.json.gz --budget relative.txt --baseline v1.json.gz
|   limit                     measured  verdict  baseline
|   wall_ms <= 105 %             40.96  FAIL        33.26
|   kernels_per_step <= 100%        29  ok             29
|   syncs_per_step <= 0              1  FAIL            -
|
| 1 of 3 limits kept, 2 failed
|
| next: strata report v0.json.gz   why, and what to do about it
? 1
$ strata check v0.json.gz --budget relative.txt --baseline v1.json.gz --json | jq -c '.limits[]'
| {"line":1,"limit":"wall_ms <= 105 %","value":40.960864,"baseline":33.259789,"verdict":"failed"}
| {"line":2,"limit":"kernels_per_step <= 100%","value":29,"baseline":29,"verdict":"ok"}
| {"line":3,"limit":"syncs_per_step <= 0","value":1,"baseline":null,"verdict":"failed"}
$ strata check v0.json.gz --budget relative.txt
! strata: line 1: 'wall_ms <= 105 %' needs --baseline TRACE
? 2
$ strata check v0.json.gz --budget relative.txt --baseline nowhere.json
! strata: nowhere.json: cannot open: No such file or directory
? 3
$ printf 'foo <= 1\n' > foo.txt; strata check v0.json.gz --budget foo.txt
! strata: foo.txt: line 1: unknown metric 'foo'; strata check --help lists them
? 2

# A gate does not pass what cannot be trusted: empty and cut traces keep no limit, and say why.
$ echo '{"traceEvents": []}' > empty.json; strata check empty.json --budget kept.txt
| trace quality: unusable
|   unusable: nothing of the program was recorded (0 events in total)
|     there is nothing to analyze
|     record the program's operators and its GPU: with strata run, torch.profiler, jax.profiler, nsys
|     profile --trace=cuda,nvtx or rocprofv3 --sys-trace
|
|   limit                              measured  verdict
|   kernels_per_step <= 30                    -  unknown
|   stage cache_context cpu_ms <= 100         -  unknown
|
| no limit was checked, because the trace cannot be trusted; --allow-untrusted checks them anyway
|
| next: strata info empty.json --lint   what is missing or damaged, and where
? 3
$ gzip -dc v0.json.gz | head -c 900000 > cut.json; strata check cut.json --budget kept.txt
| trace quality: doubtful (recording made the CPU side take about 8 % longer)
|   doubtful: the file is cut short at byte 899,412
|     device records come last in these files, so they are lost first
|     wait for the export to finish; a file name ending in .tmp means it has not
|   usable: the last 2 of 16 steps have no device records
|     their device work ran after the recording had ended; ignore these steps
|     call torch.cuda.synchronize() before the profiler stops
|
|   limit                              measured  verdict
|   kernels_per_step <= 30                    -  unknown
|   stage cache_context cpu_ms <= 100         -  unknown
|
| no limit was checked, because the trace cannot be trusted; --allow-untrusted checks them anyway
|
| next: strata info cut.json --lint   what is missing or damaged, and where
! strata: cut.json: ends inside an event at byte 900,000 (file cut short): 3,484 events read, the last one lost
? 3
$ strata check cut.json --budget kept.txt --allow-untrusted
| trace quality: doubtful (recording made the CPU side take about 8 % longer)
|   doubtful: the file is cut short at byte 899,412
|     device records come last in these files, so they are lost first
|     wait for the export to finish; a file name ending in .tmp means it has not
|   usable: the last 2 of 16 steps have no device records
|     their device work ran after the recording had ended; ignore these steps
|     call torch.cuda.synchronize() before the profiler stops
|
|   limit                              measured  verdict
|   kernels_per_step <= 30                24.62  ok
|   stage cache_context cpu_ms <= 100      11.7  ok
|
| 2 of 2 limits kept
! strata: cut.json: ends inside an event at byte 900,000 (file cut short): 3,484 events read, the last one lost
$ strata check cut.json --budget kept.txt --json | head -4
| {
|   "ok": false,
|   "trusted": false,
|   "failed": 0,
! strata: cut.json: ends inside an event at byte 900,000 (file cut short): 3,484 events read, the last one lost
$ printf 'stage decode_step kernels <= 400\nstage  "decode_step"  cpu_ms <= 50\n' > spaced.txt; strata check v0.json.gz --budget spaced.txt
|   limit                               measured  verdict
|   stage decode_step kernels <= 400         464  FAIL
|   stage  "decode_step"  cpu_ms <= 50     40.55  ok
|
| 1 of 2 limits kept, 1 failed
|
| next: strata report v0.json.gz   why, and what to do about it
? 1
