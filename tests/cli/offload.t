# The published case, from given numbers only: four steps are within noise, ten steps are not, ten
# percent needs about twelve, and the totals do not fit the times of a step.
$ strata offload --model-bytes 22GB --resident 8GB --steps 4 --step-time 4s --first-time 110s --vram 12GB --measured 4:122s --measured 4:124s:8GB --measured 10:180s --measured 10:160s:8GB
| no trace: an estimate from sizes and rates
|
|   what to do
|   - the first step reads the model at 0.20 GB/s, the speed of a disk or a page file, not of the bus.
|     Enough host memory (at least 22.0 GB free) or fewer bits per weight gains more than any resident
|     set.
|   - 90 % of the time is in the first step and fixed stages, where no resident set helps: at most
|     10 % can be gained over 4 steps.
|   - pin the host copies (tensor.pin_memory(), copies with non_blocking=True): 113 s instead of
|     122 s, without using device memory. The rate is assumed; measure it with strata offload
|     calibrate.
|   - keeping 8.00 GB resident gains 3.6 %, less than the noise of 5 %; 10 % needs 12 steps.
|
|   inconsistent numbers
|   ! 10 steps, all streamed: measured 180 s, but the other numbers give 146 s (+23 %).
|   ! 10 steps, 8.00 GB resident: measured 160 s, but the other numbers give 133 s (+20 %).
|   ! all streamed: the totals of 4 and 10 steps give 9.67 s per step, not 4.00 s: later steps still
|     read from disk, or the runs do not compare.
|   ! 8.00 GB resident: the totals of 4 and 10 steps give 6.00 s per step, not 2.55 s: later steps
|     still read from disk, or the runs do not compare.
|
|   predicted for 4 steps, with all weights in host memory at the start;
|   changes within 5.0 % are noise
|
|   from pageable     resident   first     step   total         range  change     VRAM  verdict
|   all streamed             -   110 s  4000 ms   122 s    116 to 128                -  as it is
|   keep smallest      8.00 GB   110 s  2546 ms   118 s    112 to 124    -4 %  8.00 GB  within noise
|   keep largest       8.00 GB   110 s  2546 ms   118 s    112 to 124    -4 %  8.00 GB  within noise
|   keep best          8.00 GB   110 s  2546 ms   118 s    112 to 124    -4 %  8.00 GB  within noise
|   keep all           22.0 GB   110 s        -   110 s    104 to 116   -10 %  22.0 GB  does not fit
|   model offload      22.0 GB   114 s        -   114 s    108 to 120    -7 %  22.0 GB  does not fit
|   group offload            -   114 s  8000 ms   138 s    131 to 145   +13 %        -  worse
|   8-bit weights            -  55.0 s  2047 ms  61.2 s  58.1 to 64.3   -50 %        -  worth it
|   4-bit weights            -  27.5 s  1039 ms  30.7 s  29.1 to 32.2   -75 %        -  worth it
|
|   from pinned mem.  resident  first    step  total       range  change     VRAM  verdict
|   all streamed             -  110 s  880 ms  113 s  106 to 119    -8 %        -  worth it
|   keep smallest      8.00 GB  110 s  560 ms  112 s  106 to 118    -8 %  8.00 GB  worth it
|   keep largest       8.00 GB  110 s  560 ms  112 s  106 to 118    -8 %  8.00 GB  worth it
|   keep best          8.00 GB  110 s  560 ms  112 s  106 to 118    -8 %  8.00 GB  worth it
|   keep all           22.0 GB  110 s       -  110 s  104 to 116   -10 %  22.0 GB  does not fit
|   model offload      22.0 GB  114 s       -  114 s  108 to 120    -7 %  22.0 GB  does not fit
|   prefetch modules         -  110 s  880 ms  113 s  106 to 119    -8 %        -  worth it
|   prefetch + best    8.00 GB  110 s  560 ms  112 s  106 to 118    -8 %  8.00 GB  worth it
|   prefetch blocks          -  110 s  880 ms  113 s  106 to 119    -8 %        -  worth it
|
|   ceiling: keeping everything resident gains 9.8 % over 4 steps, 100 % over very many
|   break-even: keeping 8.00 GB resident gains 10 % from 12 steps on
|   host memory: 22.0 GB, 44.0 GB if modules or blocks are prefetched
|
|   what this is based on
|   model     22.0 GB, in pageable memory
|   compute   unknown, taken as zero; set --compute-ms or --tokens
|   pageable  5.5 GB/s, given
|   pinned    25.0 GB/s, assumed: measure it with strata offload calibrate, or set it
|   measured: 4 steps, nothing resident, pageable memory: 122 s; predicted 122 s (+0.0 %)
|   measured: 4 steps, 8.00 GB resident, pageable memory: 124 s; predicted 118 s (+5.4 %)
|   measured: 10 steps, nothing resident, pageable memory: 180 s; predicted 146 s (+23.3 %)
|   measured: 10 steps, 8.00 GB resident, pageable memory: 160 s; predicted 133 s (+20.4 %)
|
| next: strata offload TRACE --resident SIZE   the same from a trace, by replaying it
|       strata help offload                    all options

$ strata offload --model-bytes 22GB --resident 8GB --steps 10 --step-time 4000ms --first-time 110 --json | grep -A 22 '"policy": "largest"' | head -23
|       "policy": "largest",
|       "host_memory": "pageable",
|       "resident_bytes": 7999200000,
|       "prefetch_depth": 0,
|       "group": "module",
|       "steps": 10,
|       "first_step_ms": 110000.000,
|       "step_ms": 2545.600,
|       "total_ms": 132910.400,
|       "low_ms": 126035.776,
|       "high_ms": 139785.024,
|       "peak_vram_bytes": 7999200000,
|       "host_ram_bytes": 22000000000,
|       "gain_pct": 8.97,
|       "break_even_steps": 12,
|       "rate_from": "given",
|       "verdict": "worth it"
|     },
|     {
|       "policy": "largest",
|       "host_memory": "pinned",
|       "resident_bytes": 7999200000,
|       "prefetch_depth": 0,

# The first step can also come from the whole run.
$ strata offload --model-bytes 22GB --resident 8GB --steps 4 --step-time 4s --total-time 122s --json | grep -m 1 first_step_ms
|       "first_step_ms": 110000.000,

# What cannot be understood is told, and nothing is guessed.
$ strata offload
! strata: the size of the model is unknown: give a trace, --modules FILE or --model-bytes SIZE
? 2

$ strata offload --model-bytes lots
! strata: --model-bytes takes a size such as 8GB or 500MiB, not 'lots'
? 2

$ strata offload --model-bytes 22GB --measured 4
! strata: --measured takes STEPS:TIME[:RESIDENT[:HOST]], not '4'
? 2

$ strata offload --model-bytes 22GB --measured 4:10s:1GB:floppy
! strata: host memory must be pageable or pinned, not 'floppy'
? 2

$ strata offload --model-bytes 22GB --step-time 1s --compute-time 2s
! strata: --compute-time is part of --step-time and cannot be longer
? 2

$ strata offload --model-bytes 22GB --steps 4 --step-time 4s --total-time 10s
! strata: 4 steps of --step-time take longer than --total-time
? 2

$ strata offload --model-bytes 22GB --noise 3s
! strata: --noise as a time needs --first-time and --step-time; or give a percentage such as 5%
? 2

$ strata offload $DATA/tiny.json
! strata: $DATA/tiny.json: the trace streams no weights: there are no copies from the host in the loop. Give --modules or --model-bytes to predict what streaming them would cost
? 3

$ strata offload no-such-file.json
! strata: no-such-file.json: cannot open: No such file or directory
? 3

$ STRATA_TEST_LIBCUDA=/nowhere/libcuda.so.1 strata offload calibrate
! strata: cannot load the CUDA driver (/nowhere/libcuda.so.1), so copies to a device cannot be timed. Calibrate on the machine that will run the model, or give --pageable-gbps and --pinned-gbps
? 3

# The chart is a picture of its own.
$ strata offload --model-bytes 22GB --step-time 4s --steps 10 --chart time.svg > /dev/null && grep -c -e polyline -e 'as it is: 40.0 s' time.svg
| 3

$ strata offload --model-bytes 22GB --chart /nowhere/time.svg
! strata: /nowhere/time.svg: cannot create: No such file or directory
? 3

# What is computed follows from tokens and FLOPs, host memory is checked, and further ahead is tried.
$ strata offload --model-bytes 22GB --tokens 1536 --tflops 80 --ram 32GB --vram 12GB --steps 10 --prefetch 3 | grep -e compute -e prefetch -e 'second copy'
|   - enable_group_offload(use_stream=True) pins a second copy of the weights, which needs 44.0 GB of
|   prefetch modules         -  1302 ms   880 ms  9.22 s   6.9 to 11.5   -71 %        -  needs host RAM
|   prefetch + best    12.0 GB  1302 ms   630 ms  6.98 s  5.23 to 8.72   -78 %  12.0 GB  needs host RAM
|   prefetch blocks          -  1302 ms   880 ms  9.22 s   6.9 to 11.5   -71 %        -  needs host RAM
|   prefetch deeper          -  1302 ms   880 ms  9.22 s   6.9 to 11.5   -71 %        -  worth it
|   host memory: 22.0 GB, 44.0 GB if modules or blocks are prefetched
|   compute   422 ms per step, estimated at 80 TFLOPS (given), at least one pass over the weights

# A second look at a traced run: a list adds what lies outside of blocks, a size would contradict.
$ strata offload $DATA/offload/pinned_stream_all.json.gz --model-bytes 22GB
! strata: the trace shows what is streamed; leave out --model-bytes
? 2

$ echo '{"modules": [{"name": "(rest)", "bytes": 100000000}]}' > rest.json; for more in "" "--modules rest.json"; do strata offload $DATA/offload/pinned_stream_all.json.gz --pageable-gbps 10 $more | grep 'prefetch blocks'; done
|   prefetch blocks          -   182 ms   162 ms   670 ms    649 to 692    -8 %   453 MB  worth it
|   prefetch blocks          -   202 ms   182 ms   750 ms    726 to 774    +3 %   453 MB  within noise
