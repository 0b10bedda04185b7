# The published case, from given numbers only: four steps are within noise, ten steps are not, ten
# percent needs about twelve, and the totals do not fit the times of a step.
$ strata offload --model-bytes 22GB --resident 8GB --steps 4 --step-ms 4s --first-ms 110s --vram 12GB --measured 4:122s --measured 4:124s:8GB --measured 10:180s --measured 10:160s:8GB
| no trace: an estimate from sizes and rates
|   model     22.0 GB, in pageable memory
|   compute   not known, taken as nothing; --compute-ms or --tokens gives it
|   pageable 5.5 GB/s, given
|   pinned   25.0 GB/s, assumed: measure it with strata offload calibrate, or give it
|
|   predicted for 4 steps, all weights in host memory at the start;
|   changes within 5.0 % are noise
|
|   from pageable     resident   first     step   total         range  change     VRAM  verdict
|   all streamed             -   110 s  4000 ms   122 s    116 to 128                -  as it is
|   smallest stay      8.00 GB   110 s  2546 ms   118 s    112 to 124    -4 %  8.00 GB  within noise
|   largest stay       8.00 GB   110 s  2546 ms   118 s    112 to 124    -4 %  8.00 GB  within noise
|   best stay          8.00 GB   110 s  2546 ms   118 s    112 to 124    -4 %  8.00 GB  within noise
|   all stay           22.0 GB   110 s        -   110 s    104 to 116   -10 %  22.0 GB  does not fit
|   model in one go    22.0 GB   114 s        -   114 s    108 to 120    -7 %  22.0 GB  does not fit
|   there and back           -   114 s  8000 ms   138 s    131 to 145   +13 %        -  worse
|   8-bit weights            -  55.0 s  2047 ms  61.2 s  58.1 to 64.3   -50 %        -  worth it
|   4-bit weights            -  27.5 s  1039 ms  30.7 s  29.1 to 32.2   -75 %        -  worth it
|
|   from pinned mem.  resident  first    step  total       range  change     VRAM  verdict
|   all streamed             -  110 s  880 ms  113 s  106 to 119    -8 %        -  worth it
|   smallest stay      8.00 GB  110 s  560 ms  112 s  106 to 118    -8 %  8.00 GB  worth it
|   largest stay       8.00 GB  110 s  560 ms  112 s  106 to 118    -8 %  8.00 GB  worth it
|   best stay          8.00 GB  110 s  560 ms  112 s  106 to 118    -8 %  8.00 GB  worth it
|   all stay           22.0 GB  110 s       -  110 s  104 to 116   -10 %  22.0 GB  does not fit
|   model in one go    22.0 GB  114 s       -  114 s  108 to 120    -7 %  22.0 GB  does not fit
|   modules ahead            -  110 s  880 ms  113 s  106 to 119    -8 %        -  worth it
|   ahead, best stay   8.00 GB  110 s  560 ms  112 s  106 to 118    -8 %  8.00 GB  worth it
|   blocks ahead             -  110 s  880 ms  113 s  106 to 119    -8 %        -  worth it
|
|   ceiling: keeping everything gains 9.8 % in 4 steps, 100 % in very many
|   break-even: 8.00 GB resident gains 10 % from 12 steps on
|   host memory: 22.0 GB, 44.0 GB where modules or blocks are copied ahead
|   measured: 4 steps, nothing resident, pageable memory: 122 s; predicted 122 s (+0.0 %)
|   measured: 4 steps, 8.00 GB resident, pageable memory: 124 s; predicted 118 s (+5.4 %)
|   measured: 10 steps, nothing resident, pageable memory: 180 s; predicted 146 s (+23.3 %)
|   measured: 10 steps, 8.00 GB resident, pageable memory: 160 s; predicted 133 s (+20.4 %)
|
|   numbers that do not fit together
|   ! 10 steps, all streamed: measured 180 s, but the other numbers make 146 s (+23 %).
|   ! 10 steps, 8.00 GB resident: measured 160 s, but the other numbers make 133 s (+20 %).
|   ! all streamed: the totals of 4 and 10 steps make 9.67 s a step, not 4.00 s: still reading from
|     disk in later steps, or runs that do not compare.
|   ! 8.00 GB resident: the totals of 4 and 10 steps make 6.00 s a step, not 2.55 s: still reading
|     from disk in later steps, or runs that do not compare.
|
|   what to do
|   - the first step reads the model at 0.20 GB/s: that is a disk or a page file, not the bus. Enough
|     host memory (22.0 GB and more free), or fewer bits a weight, gains more than any resident set.
|   - 90 % of the time lies in the first step and fixed stages, where no resident set helps: at most
|     10 % can be gained in 4 steps.
|   - pin the host copies (tensor.pin_memory(), copies with non_blocking=True): 113 s instead of
|     122 s, for no device memory. The rate is assumed: strata offload calibrate measures it.
|   - 8.00 GB resident gains 3.6 %, less than the noise of 5 %; 10 % needs 12 steps.
|
| next: strata offload TRACE --resident SIZE   the same from a trace, by replaying it
|       strata help offload                    everything that can be given

$ strata offload --model-bytes 22GB --resident 8GB --steps 10 --step-ms 4000 --first-ms 110000 --json | grep -A 22 '"policy": "largest"' | head -23
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
$ strata offload --model-bytes 22GB --resident 8GB --steps 4 --step-ms 4s --total-ms 122s --json | grep -m 1 first_step_ms
|       "first_step_ms": 110000.000,

# What cannot be understood is told, and nothing is guessed.
$ strata offload
! strata: how large is the model? Give a trace, --modules FILE or --model-bytes SIZE
? 2

$ strata offload --model-bytes lots
! strata: --model-bytes takes a size such as 8GB or 500MiB, not 'lots'
? 2

$ strata offload --model-bytes 22GB --measured 4
! strata: --measured takes STEPS:TIME[:RESIDENT[:HOST]], not '4'
? 2

$ strata offload --model-bytes 22GB --measured 4:10s:1GB:floppy
! strata: host memory is pageable or pinned, not 'floppy'
? 2

$ strata offload --model-bytes 22GB --step-ms 1s --compute-ms 2s
! strata: --compute-ms is part of --step-ms and cannot be longer
? 2

$ strata offload --model-bytes 22GB --steps 4 --step-ms 4s --total-ms 10s
! strata: 4 steps of --step-ms take longer than --total-ms
? 2

$ strata offload --model-bytes 22GB --noise 3s
! strata: --noise as a time needs --first-ms and --step-ms; or give 5%
? 2

$ strata offload $DATA/tiny.json
! strata: $DATA/tiny.json: no weights are streamed here: no copies from the host in the loop. With --modules or --model-bytes it tells what streaming them would cost
? 3

$ strata offload no-such-file.json
! strata: no-such-file.json: cannot open: No such file or directory
? 3

$ STRATA_LIBCUDA=/nowhere/libcuda.so.1 strata offload calibrate
! strata: no CUDA driver here (/nowhere/libcuda.so.1): copies to a device cannot be timed. Calibrate on the machine that will run the model, or give --pageable-gbps and --pinned-gbps
? 3

# The chart is a picture of its own.
$ strata offload --model-bytes 22GB --step-ms 4s --steps 10 --chart time.svg > /dev/null && grep -c -e polyline -e 'as it is: 40.0 s' time.svg
| 3

$ strata offload --model-bytes 22GB --chart /nowhere/time.svg
! strata: /nowhere/time.svg: cannot create: No such file or directory
? 3

# What is computed follows from tokens and FLOPs, host memory is checked, and further ahead is tried.
$ strata offload --model-bytes 22GB --tokens 1536 --tflops 80 --ram 32GB --vram 12GB --steps 10 --prefetch 3 | grep -e compute -e ahead -e 'second copy'
|   compute   422 ms a step, estimated at 80 TFLOPS (given), at least a pass over the weights
|   modules ahead            -  1302 ms   880 ms  9.22 s   6.9 to 11.5   -71 %        -  needs host RAM
|   ahead, best stay   12.0 GB  1302 ms   630 ms  6.98 s  5.23 to 8.72   -78 %  12.0 GB  needs host RAM
|   blocks ahead             -  1302 ms   880 ms  9.22 s   6.9 to 11.5   -71 %        -  needs host RAM
|   further ahead            -  1302 ms   880 ms  9.22 s   6.9 to 11.5   -71 %        -  worth it
|   host memory: 22.0 GB, 44.0 GB where modules or blocks are copied ahead
|   - enable_group_offload(use_stream=True) pins a second copy of the weights: 44.0 GB of 32.0 GB host

# A second look at a traced run: a list adds what lies outside of blocks, a size would contradict.
$ strata offload $DATA/offload/pinned_stream_all.json.gz --model-bytes 22GB
! strata: the trace shows what is streamed: without --model-bytes, please
? 2

$ echo '{"modules": [{"name": "(rest)", "bytes": 100000000}]}' > rest.json; for more in "" "--modules rest.json"; do strata offload $DATA/offload/pinned_stream_all.json.gz --pageable-gbps 10 $more | grep 'blocks ahead'; done
|   blocks ahead             -   182 ms   162 ms   670 ms    649 to 692    -8 %   453 MB  worth it
|   blocks ahead             -   202 ms   182 ms   750 ms    726 to 774    +3 %   453 MB  within noise
