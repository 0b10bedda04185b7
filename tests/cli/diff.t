$ ln -s $DATA/whatif/pingpong_v0.json.gz v0.json.gz
$ ln -s $DATA/whatif/pingpong_v1.json.gz v1.json.gz

# What the fix changed: the parts add up to the change of the wall clock.
$ strata diff v0.json.gz v1.json.gz
|   wall 40.96 -> 33.26 ms  (-18.8 %, -7.70 ms)
|   not proven: too few traces to rule out noise, give three or more per side
|
|   what changed
|     sync gone: aten::item in sampler_step, 16 calls, blocked 463 us, exposed 761 us
|     syncs in the loop 16 -> 0, proved: no call blocks inside the steps of the second trace
|
|   change ms  before  after  where the wall time changed
|       -1.99   10.98   8.99  GPU idle: cache_context (label)
|       -1.26    1.90  0.643  GPU idle: aten::addmm (operator)
|       -0.57   0.632  0.065  GPU idle: cudaLaunchKernel (launch latency)
|       -0.56   0.721  0.162  GPU idle: decode_step (label)
|       -0.47   0.678  0.212  GPU idle: cuLaunchKernelEx (launch latency)
|       -0.45   0.467  0.013  GPU idle: sampler_step (label)
|       -0.31   0.623  0.316  GPU idle: transformer_forward (label)
|       -0.29   0.313  0.022  GPU idle: aten::mul (operator)
|       -1.81                 24 smaller changes (--limit 0 shows all)
|
|   stage                    CPU ms  after           GPU ms  after          kernels    syncs
|   pipeline_call             40.96  33.26  -18.8 %   19.86  19.69  -0.8 %      464  17 -> 1
|     decode_step             40.55  32.87  -18.9 %   19.86  19.69  -0.8 %      464  16 -> 0
|       cache_context         11.70  12.10   +3.4 %       -      -                -        -
|       transformer_forward   21.71  16.88  -22.3 %   18.43  18.30  -0.7 %      384        -
|       sampler_step           6.00   3.27  -45.5 %    1.42   1.39  -2.1 %       80  16 -> 0
|
| next: strata report v1.json.gz   what is left to gain
|       strata gaps v1.json.gz     when the GPU was idle, and why
$ strata diff v0.json.gz v1.json.gz --json | python3 -c 'import json, sys
> d = json.load(sys.stdin)
> parts = sum(p["change_us"] for p in d["parts"])
> print(abs(parts - (d["wall"]["after_us"] - d["wall"]["before_us"])) < 0.01)'
| True
$ strata diff v0.json.gz
! strata: diff needs BEFORE AFTER | BEFORE ... vs AFTER ...; strata diff --help has an example
? 2
$ strata diff v0.json.gz vs
! strata: there is nothing on one side of 'vs'
? 2
$ strata diff v0.json.gz v0.json.gz vs v1.json.gz
! strata: v0.json.gz is given twice on one side: every run counts once, so give another recording of the same program
? 2
$ for i in 2 3; do cp v0.json.gz v0_$i.json.gz; cp v1.json.gz v1_$i.json.gz; done
$ strata diff v0.json.gz v0_2.json.gz v0_3.json.gz vs v1.json.gz v1_2.json.gz v1_3.json.gz | sed -n 2p
|   means of 3 and 3 runs: -18.8 %, 99 % interval -18.8 ... -18.8 %: faster, and more than noise

# A gate for CI: slower than a limit is exit status 1, and with several runs only what is more than noise.
$ strata diff v1.json.gz v0.json.gz --fail-if-slower 5 > /dev/null
? 1
$ strata diff v1.json.gz v0.json.gz --fail-if-slower 50 > /dev/null
$ strata diff v0.json.gz v1.json.gz --fail-if-slower 0 --json > /dev/null
$ strata diff v1.json.gz v1_2.json.gz v1_3.json.gz vs v0.json.gz v0_2.json.gz v0_3.json.gz --fail-if-slower 5 > /dev/null
? 1
$ strata diff v1.json.gz v0.json.gz --fail-if-slower much
! strata: --fail-if-slower takes a number from 0 to 1e+06, not 'much'
? 2

$ gzip -dc v0.json.gz | head -c 900000 > cut.json; echo '{"traceEvents": []}' > empty.json
# A trace that is cut or empty is not compared: what it lacks would be taken for a change.
$ strata diff v0.json.gz cut.json
! strata: cut.json: ends inside an event at byte 900,000 (file cut short): 3,484 events read, the last one lost
! strata: cut.json: cannot be compared, its quality is doubtful: the file is cut short at byte 899,412; --allow-untrusted compares it anyway
? 3
$ strata diff empty.json v0.json.gz
! strata: empty.json: cannot be compared, its quality is unusable: nothing of the program was recorded (0 events in total); --allow-untrusted compares it anyway
? 3
$ strata diff v0.json.gz cut.json --allow-untrusted 2>&1 | sed -n 2p
|   wall 40.96 -> 40.96 ms  (no change)

# Two programs are not one program that changed.
$ strata diff $DATA/flux2/flux2_after_compile.json.gz $DATA/wan/wan_before_compile.json.gz | grep -A1 'two different'
|     these look like two different programs: kernels that both have take 16.5 % and 69.4 % of the
|       kernel time, and no outermost module is the same
$ strata diff $DATA/wan/wan_before_compile.json.gz v0.json.gz | grep -A1 'two different'
|     these look like two different programs: kernels that both have take 0.0 % and 3.3 % of the
|       kernel time, and few stages are the same
$ strata diff $DATA/flux2/flux2_before_compile.json.gz $DATA/flux2/flux2_after_compile.json.gz | grep -c 'two different'
| 0
? 1
