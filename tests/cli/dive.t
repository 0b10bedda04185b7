# A dive into a report that exists: thirteen kernels of an H200, each with what holds it back.
$ strata dive $DATA/dive/h200_raw.csv | head -20
| $DATA/dive/h200_raw.csv   NVIDIA H200   13 launches
|   ceilings  memory 4.27 TB/s (table), bf16 780 TFLOP/s (table), fp32 51.0 TFLOP/s (table)
|
|    #  kernel                              share    us  TFLOP/s   TB/s  of roof  limited by    sure
|    1  nvjet_sm90_t..._1x2_h_bz_coopA_NNT      -   175      785   1.01    101 %  tensor cores  high
|    2  nvjet_sm90_t..._64x16_1x2_h_bz_NNT      -  12.4      173   2.82     66 %  memory        low
|    3  Kernel2<cutl...x128_8x4_nn_align1>      -   342     50.3   0.11     99 %  arithmetic    high
|    4  cudnn_sdpa_s..._cga1x1x1_kernel0_0      -   112      619   0.16     79 %  tensor cores  high
|    5  vectorized_e...el<CUDAFunctor_add>      -  90.6     1.48   4.26    100 %  memory        high
|    6  vectorized_e...GeluCUDAKernelImpl>      -  87.6     14.7   2.84     67 %  issue slots   high
|    7  reduce_kernel<sum_functor>              -  37.1     1.90   3.68     86 %  memory        high
|    8  vectorized_layer_norm_kernel            -  54.5     11.5   2.12     50 %  issue slots   medium
|    9  cunn_SoftMax...MaxForwardEpilogue>      -   106     10.8   1.10     26 %  issue slots   high
|   10  vectorized_e...AFunctorOnSelf_add>      -  2.18    <0.01  <0.01      0 %  tail          high
|   11  index_elemen...l<gpu_index_kernel>      -  36.3        -   1.25     29 %  memory        high
|   12  nvjet_sm90_t..._4x2_h_bz_coopB_NNN      -  17.6      515   0.49     66 %  no verdict
|   13  elementwise_...t_copy_kernel_cuda>      -   217        -   0.55     13 %  memory        high
|
|   1  nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT
|      limited by tensor cores, confidence high

# The same kernels found in a trace, the most exposed first, joined by name, grid and block.
$ strata dive $DATA/dive/kernels.json.gz --ncu $DATA/dive/h200_raw.csv --limit 3
| $DATA/dive/kernels.json.gz   NVIDIA H200   3 of 13 kernels, 56.6 % of the time that kernels run alone
|   ceilings  memory 4.27 TB/s (table), bf16 780 TFLOP/s (table), fp32 51.0 TFLOP/s (table)
|
|   #  kernel                                   share   us  TFLOP/s  TB/s  of roof  limited by    sure
|   1  Kernel2<cutlas...56x128_8x4_nn_align1>  26.5 %  342     50.3  0.11     99 %  arithmetic    high
|   2  elementwise_ke...ect_copy_kernel_cuda>  16.8 %  217        -  0.55     13 %  memory        high
|   3  nvjet_sm90_tst...x4_1x2_h_bz_coopA_NNT  13.3 %  175      785  1.01    101 %  tensor cores  high
|
|   1  Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>
|      3 launches, 340 us each in the trace, 342 us alone
|      limited by arithmetic (FP32 pipe), confidence high
|        + FP32 pipe busy 76 % of the time
|        + 50 TFLOP/s is 99 % of what such a GPU reaches
|        + 476 FLOP per byte, above the ridge at 12
|        + memory is busy 11 %
|      a warp waits for shared memory or special functions 7 %, is held back by the dispatcher 6 %
|        of its time
|      occupancy 12 % of 12 % that registers allow; 0.97 waves; tensor cores not used; 476 FLOP per
|        byte
|      helps: It multiplies matrices without tensor cores: run it in bf16 or fp16, or allow tf32
|             (torch.backends.cuda.matmul.allow_tf32 = True).
|
|   2  elementwise_kernel<direct_copy_kernel_cuda>
|      3 launches, 217 us each in the trace, 217 us alone
|      limited by memory (L2), confidence high
|        + L2 busy 94 % of the time
|        + 9.3 bytes move through L2 per byte from DRAM
|        + warps wait for memory 93 % of their time
|        + no other part is busier (next 63 %)
|      a warp waits for data from memory 89 % of its time
|      occupancy 92 %; 31.03 waves; tensor cores not used
|      helps: Neighbouring threads read addresses far apart: make the tensor contiguous, or keep it in
|             the layout the next kernel wants (channels_last) instead of transposing it.
|
|   3  nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT
|      3 launches, 171 us each in the trace, 175 us alone
|      limited by tensor cores, confidence high
|        + tensor pipe busy 89 % of the time
|        + 785 TFLOP/s is 101 % of what such a GPU reaches
|        + 781 FLOP per byte, above the ridge at 183
|        + no other part is busier (next 70 %)
|      a warp waits for the other warps of its block 30 %, waits for the tensor cores 19 %, waits
|        for data from memory 19 % of its time
|      occupancy 15 % of 19 % that registers allow; 1.00 waves; tensor cores used; 781 FLOP per byte
|      helps: It is at the limit of the tensor cores: only less work (fewer tokens or steps, caching,
|             sparse attention) or a narrower type (fp8) helps.
|
| next: strata kernels $DATA/dive/kernels.json.gz --by config
|       strata whatif $DATA/dive/kernels.json.gz --scale-kernel REGEX=0.5

# The details page has labels instead of names, and no single pipes.
$ strata dive $DATA/dive/h200_details.csv --ceilings table | head -8
| $DATA/dive/h200_details.csv   2 launches
|   ceilings  unknown; set them with --ceilings FILE
|
|   #  kernel                                   share    us  TFLOP/s   TB/s  of roof  limited by  sure
|   1  nvjet_sm90_tst...4x4_1x2_h_bz_coopA_NNT      -   176        -   1.00        -  arithmetic  high
|   2  vectorized_ele...CUDAFunctorOnSelf_add>      -  2.18        -  <0.01        -  tail        high
|
|   1  nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT

# Measured ceilings from a file; one of another GPU is refused.
$ echo '{"gpu": "NVIDIA H200", "memory_gb_per_s": 4300, "bf16_tflop_per_s": 790}' > c.json; strata dive $DATA/dive/kernels.json.gz --ncu $DATA/dive/h200_raw.csv --limit 1 --filter nvjet --ceilings c.json
| $DATA/dive/kernels.json.gz   NVIDIA H200   1 of 13 kernels, 13.3 % of the time that kernels run alone
|   ceilings  memory 4.30 TB/s, bf16 790 TFLOP/s
|
|   #  kernel                                   share   us  TFLOP/s  TB/s  of roof  limited by    sure
|   1  nvjet_sm90_tst...x4_1x2_h_bz_coopA_NNT  13.3 %  175      785  1.01     99 %  tensor cores  high
|
|   1  nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT
|      3 launches, 171 us each in the trace, 175 us alone
|      limited by tensor cores, confidence high
|        + tensor pipe busy 89 % of the time
|        + 785 TFLOP/s is 99 % of what this GPU reaches
|        + 781 FLOP per byte, above the ridge at 184
|        + no other part is busier (next 70 %)
|      a warp waits for the other warps of its block 30 %, waits for the tensor cores 19 %, waits
|        for data from memory 19 % of its time
|      occupancy 15 % of 19 % that registers allow; 1.00 waves; tensor cores used; 781 FLOP per byte
|      helps: It is at the limit of the tensor cores: only less work (fewer tokens or steps, caching,
|             sparse attention) or a narrower type (fp8) helps.
|
| next: strata kernels $DATA/dive/kernels.json.gz --by config
|       strata whatif $DATA/dive/kernels.json.gz --scale-kernel REGEX=0.5
$ echo '{"gpu": "NVIDIA L4"}' > l4.json; strata dive $DATA/dive/h200_raw.csv --ceilings l4.json
! strata: l4.json: holds the rates of NVIDIA L4, and this is NVIDIA H200
? 3

# The five kernels that cost most in a transformer of Flux.2 Klein, against what that GPU reaches.
$ echo '{"gpu": "NVIDIA H200", "memory_gb_per_s": 4270, "bf16_tflop_per_s": 806, "fp32_tflop_per_s": 49.6}' > c.json; strata dive $DATA/dive/klein_raw.csv --ceilings c.json | sed -n 2,9p
|   ceilings  memory 4.27 TB/s, bf16 806 TFLOP/s
|
|   #  kernel                                share    us  TFLOP/s  TB/s  of roof  limited by    sure
|   1  elementwise_kernel<MulFunctor>            -  59.0     2.88  2.29     54 %  issue slots   medium
|   2  cudnn_sdpa_sm...1_cga1x1x1_kernel0_0      -   510      688  0.28     85 %  tensor cores  high
|   3  nvjet_sm90_ts...3_1x2_h_bz_coopB_TNT      -  1033      800  1.17     99 %  tensor cores  medium
|   4  nvjet_sm90_ts...4_1x2_h_bz_coopA_TNT      -   502      821  0.96    102 %  tensor cores  high
|   5  nvjet_sm90_ts...4_2x1_v_bz_coopB_TNN      -  1692      823  0.99    102 %  tensor cores  high

# Without anything measured the trace alone gives an estimate, marked as one.
$ strata dive $DATA/dive/kernels.json.gz --limit 2
| $DATA/dive/kernels.json.gz   NVIDIA H200   2 of 13 kernels, 43.3 % of the time that kernels run alone
|   not measured: there is no program to run
|   remedy: strata dive TRACE -- python SCRIPT measures the kernels while SCRIPT runs; --ncu FILE
|           reads a report
|   What follows is an estimate from the trace alone: shapes, launch sizes, durations.
|   ceilings  memory 4.27 TB/s (table), bf16 780 TFLOP/s (table), fp32 51.0 TFLOP/s (table)
|
|   #  kernel                            share   us  TFLOP/s  TB/s  of roof  limited by  sure
|   1  Kernel2<cut...28_8x4_nn_align1>  26.5 %  341     50.4  0.15     99 %  arithmetic  low, estimate
|   2  elementwise...copy_kernel_cuda>  16.8 %  216        -  0.62     15 %  no verdict
|
|   1  Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>
|      3 launches, 340 us each in the trace
|      ! not measured: an estimate from the trace
|      limited by arithmetic (FP32 pipe), confidence low
|        + 50 TFLOP/s is 99 % of what such a GPU reaches
|        + 341 FLOP per byte, above the ridge at 12
|      occupancy 12 % of 12 % that registers allow; 0.97 waves; tensor cores not used; 341 FLOP per
|        byte
|      helps: It multiplies matrices without tensor cores: run it in bf16 or fp16, or allow tf32
|             (torch.backends.cuda.matmul.allow_tf32 = True).
|
|   2  elementwise_kernel<direct_copy_kernel_cuda>
|      3 launches, 217 us each in the trace
|      ! not measured: an estimate from the trace
|      no verdict: too little was measured
|      occupancy 100 %; 31.03 waves
|
| next: strata kernels $DATA/dive/kernels.json.gz --by config
|       strata whatif $DATA/dive/kernels.json.gz --scale-kernel REGEX=0.5

# A page with the roofline: the same document in its head.
$ strata dive $DATA/dive/kernels.json.gz --ncu $DATA/dive/h200_raw.csv --limit 1 --html page.html > /dev/null 2>&1; grep -o '"kind":"dive"' page.html; grep -c '"ai_flop_per_byte"' page.html; rm page.html
| "kind":"dive"
| 1

# The folder of a run stands for the trace in it.
$ mkdir run; cp $DATA/dive/kernels.json.gz run/denoise_trace.json.gz; strata dive run | head -1; cp run/denoise_trace.json.gz run/vae_trace.json.gz; strata dive run
| run/denoise_trace.json.gz   NVIDIA H200   5 of 13 kernels, 73.3 % of the time that kernels run alone
! strata: run holds traces of 2 stages; name one of them
? 2
$ cp run/vae_trace.json.gz run/trace.json.gz; strata dive run | head -1; rm -r run
| run/trace.json.gz   NVIDIA H200   5 of 13 kernels, 73.3 % of the time that kernels run alone

# What cannot be done.
$ STRATA_NCU=/none strata dive $DATA/dive/kernels.json.gz --limit 1 -- python3 work.py 2>&1 | head -6
| $DATA/dive/kernels.json.gz   NVIDIA H200   1 of 13 kernels, 26.5 % of the time that kernels run alone
|   not measured: Nsight Compute is not installed: `ncu` is not on the path
|   remedy: install it (it comes with the CUDA toolkit: apt install nsight-compute), set STRATA_NCU to
|           its path, or measure elsewhere and read the report with --ncu
|   What follows is an estimate from the trace alone: shapes, launch sizes, durations.
|   ceilings  memory 4.27 TB/s (table), fp32 51.0 TFLOP/s (table)
$ strata dive none.ncu-rep
! strata: none.ncu-rep: cannot read the file
? 3
$ touch some.ncu-rep; STRATA_NCU=/none strata dive some.ncu-rep
! strata: some.ncu-rep: reading it needs Nsight Compute, but ncu is not on the path. Where it is installed, run: ncu --import some.ncu-rep --page raw --csv > kernels.csv
? 3
$ strata dive $DATA/dive/h200_raw.csv -- python3 work.py
! strata: $DATA/dive/h200_raw.csv is a report, so there is nothing to run; to measure, give a trace
? 2
$ strata dive $DATA/dive/kernels.json.gz --filter nothing_like_it
! strata: $DATA/dive/kernels.json.gz: no kernel matches; strata kernels lists their names
? 2
$ strata dive $DATA/dive/kernels.json.gz --filter '('
! strata: '(' is not a regular expression: Unmatched ( or \(
? 2
$ strata dive $DATA/dive/kernels.json.gz --ncu $DATA/tiny.json
! strata: $DATA/tiny.json: not a table from Nsight Compute: expected a line that begins with "ID" and names its columns (ncu --csv --page raw)
? 3

# A program in the place of ncu notes how it is called, and does what FAKE says.
$ mkdir bin tmp; cat > bin/ncu <<'EOF'
> #!/usr/bin/env bash
> if [ "$1" = --import ]; then
>   [ -s "$2" ] || { echo "==ERROR== Failed to open $2"; exit 1; }
>   cat "$2"; exit 0
> fi
> printf '%s\n' "$@" > args; env | grep -E '^(STRATA_DIVE|CUDA_INJECTION64_PATH)=' > env
> while [ "$1" != python3 ]; do
>   [ "$1" = --export ] && report=$2
>   [ "$1" = --log-file ] && log=$2
>   shift
> done
> case $FAKE in
> perm) echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0." > "$log"; exit 1 ;;
> marks) case " $(paste -sd' ' args) " in *from-start*) printf '==WARNING== No kernels were profiled.\n' > "$log"; exit 0 ;; esac; cp "$DATA/dive/h200_raw.csv" "$report" ;;
> none) printf '==PROF== Connected\n==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. k\n' > "$log"; exit 0 ;;
> odd) echo "==ERROR== Something that nobody has seen before" > "$log"; exit 3 ;;
> crash) kill -9 $$ ;;
> silent) exit 7 ;;
> half) head -c 9000 "$DATA/dive/h200_raw.csv" > "$report"; exit 0 ;;
> empty) : > "$report"; exit 0 ;;
> fails) cp "$DATA/dive/h200_raw.csv" "$report"; exit 5 ;;
> *) "$@" && cp "$DATA/dive/h200_raw.csv" "$report" ;;
> esac
> EOF
> chmod +x bin/ncu; echo 'print("the program ran")' > work.py
> printf '#!/bin/sh\n[ "${1##*/}" = ceilings.py ] || exec /usr/bin/env python3 "$@"\necho "{\\"gpu\\": \\"NVIDIA H200\\", \\"memory_gb_per_s\\": 4310, \\"bf16_tflop_per_s\\": 791}"\n' > bin/python3.9; chmod +x bin/python3.9

# The program's output goes to standard error, the result to standard output.
$ export STRATA_NCU=$PWD/bin/ncu CUDA_INJECTION64_PATH=/x; strata dive $DATA/dive/kernels.json.gz --limit 2 --ceilings table -- python3 work.py > out; head -6 out; cat env
| $DATA/dive/kernels.json.gz   NVIDIA H200   2 of 13 kernels, 43.3 % of the time that kernels run alone
|   ceilings  memory 4.27 TB/s (table), fp32 51.0 TFLOP/s (table)
|
|   #  kernel                                     share   us  TFLOP/s  TB/s  of roof  limited by  sure
|   1  Kernel2<cutlas..._256x128_8x4_nn_align1>  26.5 %  342     50.3  0.11     99 %  arithmetic  high
|   2  elementwise_ke...irect_copy_kernel_cuda>  16.8 %  217        -  0.55     13 %  memory      high
| STRATA_DIVE=1
! strata: measuring 2 kernels with $DIR/bin/ncu; this slows the program down
! the program ran

# Just these kernels: by name, one launch of each size behind the warm-up, clocks left alone.
$ grep -v -e metrics -e sum -e strata-dive args | paste -sd' ' | sed 's/ --section/\n&/; s/ --export/\n&/'
| --target-processes all --clock-control none --replay-mode kernel --graph-profiling node --kernel-name-base demangled --kernel-name regex:Kernel2.*cutlass_80_simt_sgemm_256x128_8x4_nn_align1|elementwise_kernel.*direct_copy_kernel_cuda --filter-mode per-launch-config --launch-skip 1 --launch-count 1
|  --section LaunchStats --section Occupancy --section SchedulerStats --section WarpStateStats
|  --export --log-file python3 work.py
$ grep -A1 -e '--metrics' args | tail -1 | tr , '\n' | grep -E 'tensor|dram' 
| gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed
| sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active
| dram__bytes_read.sum
| dram__bytes_write.sum
| sm__ops_path_tensor_src_bf16_dst_fp32.sum
| sm__ops_path_tensor_src_fp16.sum
| sm__ops_path_tensor_src_tf32_dst_fp32.sum
| sm__ops_path_tensor_src_fp8.sum

# A program that marks what to measure is taken at its word; more of the options.
$ echo 'import torch; torch.cuda.profiler.start()' > marked.py; STRATA_NCU=$PWD/bin/ncu FAKE=fails strata dive $DATA/dive/kernels.json.gz --limit 1 --replay application --skip 4 -o kept.ncu-rep --ceilings table -- python3 marked.py | head -1; grep -A1 -E 'replay-mode|from-start|launch-skip' args; cmp kept.ncu-rep $DATA/dive/h200_raw.csv && ls
| $DATA/dive/kernels.json.gz   NVIDIA H200   1 of 13 kernels, 26.5 % of the time that kernels run alone
| --replay-mode
| application
| --
| --launch-skip
| 4
| --
| --profile-from-start
| off
| args
| bin
| c.json
| env
| kept.ncu-rep
| l4.json
| marked.py
| out
| some.ncu-rep
| tmp
| work.py
! strata: measuring 1 kernel with $DIR/bin/ncu; this slows the program down
! strata: the program failed under ncu; showing what was measured until then

# Marks that the program never comes to are not waited for a second time.
$ TMPDIR=$PWD/tmp STRATA_NCU=$PWD/bin/ncu FAKE=marks strata dive $DATA/dive/kernels.json.gz --limit 1 --ceilings table --json -- python3 marked.py | grep '"measured"'; grep -c from-start args; grep -A1 launch-skip args
|   "measured": 1,
| 0
| --launch-skip
| 1
! strata: measuring 1 kernel with $DIR/bin/ncu; this slows the program down
! strata: nothing ran between the program's own profiler marks; running again without them
! strata: measuring 1 kernel with $DIR/bin/ncu; this slows the program down

# What the GPU reaches is measured once, with the Python of the program, and kept.
$ export STRATA_NCU=$PWD/bin/ncu PATH=$PWD/bin:$PATH; sed -i 's/!= python3 /!= python3.9 /' bin/ncu; for i in 1 2; do strata dive $DATA/dive/kernels.json.gz --limit 1 -- python3.9 work.py | sed -n 2p; done; cat .cache/strata/*
|   ceilings  memory 4.31 TB/s, fp32 51.0 TFLOP/s (table)
|   ceilings  memory 4.31 TB/s, fp32 51.0 TFLOP/s (table)
| {"gpu": "NVIDIA H200", "memory_gb_per_s": 4310, "bf16_tflop_per_s": 791}
! strata: measuring 1 kernel with $DIR/bin/ncu; this slows the program down
! the program ran
! strata: measuring the rates this GPU reaches, once (a few seconds)
! strata: kept the rates this GPU reaches in $DIR/.cache/strata/ceilings_NVIDIA_H200.json
! strata: measuring 1 kernel with $DIR/bin/ncu; this slows the program down
! the program ran

# All that may go wrong under ncu: said with its remedy, and the estimate is shown.
$ export TMPDIR=$PWD/tmp STRATA_NCU=$PWD/bin/ncu; sed -i 's/!= python3.9 /!= python3 /' bin/ncu; for FAKE in perm none odd crash silent; do export FAKE; strata dive $DATA/dive/kernels.json.gz --limit 1 -- python3 work.py 2> /dev/null | sed -n '2,/What follows/p'; done
|   not measured: this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM)
|   remedy: run it as root (sudo -E env PATH="$PATH" strata dive ...), or let an administrator set
|           'options nvidia NVreg_RestrictProfilingToAdminUsers=0' in /etc/modprobe.d and reboot; in a
|           container start it with --cap-add=SYS_ADMIN (driver 565 and later: PERFMON)
|   What follows is an estimate from the trace alone: shapes, launch sizes, durations.
|   not measured: the program did not launch the chosen kernels, or not often enough
|   remedy: run the traced program with as many steps; --skip N sets how many launches of a kernel to
|           skip first
|   What follows is an estimate from the trace alone: shapes, launch sizes, durations.
|   not measured: Nsight Compute says: Something that nobody has seen before
|   remedy: see ncu's message; you can also make its report by hand (ncu --set full -o kernels ...)
|           and read it with --ncu
|   What follows is an estimate from the trace alone: shapes, launch sizes, durations.
|   not measured: Nsight Compute was killed by signal 9 (Killed)
|   remedy: run it again; fewer kernels (--limit 1) need less memory and time
|   What follows is an estimate from the trace alone: shapes, launch sizes, durations.
|   not measured: the program ended with status 7 and Nsight Compute left no report
|   remedy: check that the program runs without strata and uses the GPU
|   What follows is an estimate from the trace alone: shapes, launch sizes, durations.
$ TMPDIR=$PWD/tmp STRATA_NCU=$PWD/bin/ncu FAKE=half strata dive $DATA/dive/kernels.json.gz --limit 2 --json -- python3 work.py 2> /dev/null | grep -E '"(matched|measured|source)"'
|   "source": "trace",
|   "measured": 0,
|       "matched": "absent",
|       "matched": "absent",
|     "memory_from": "measured",
|         "from": "measured"
$ TMPDIR=$PWD/tmp STRATA_NCU=$PWD/bin/ncu FAKE=empty strata dive $DATA/dive/kernels.json.gz -- python3 work.py 2>&1 | sed 's/strata-dive-[^/]*/strata-dive/g; 4q'
| strata: measuring 5 kernels with $DIR/bin/ncu; this slows the program down
| $DATA/dive/kernels.json.gz   NVIDIA H200   5 of 13 kernels, 73.3 % of the time that kernels run alone
|   not measured: $DIR/bin/ncu cannot read it: Nsight Compute says: Failed to open
|                 $DIR/tmp/strata-dive/kernels.ncu-rep

# No folder of a run is left behind.
$ ls tmp
