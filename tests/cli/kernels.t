$ cp $DATA/matmul_add/4096_bf16_warm_compile.json.gz mm.json.gz; cp $DATA/tiny.json .
$ cp $DATA/whatif/gpubound_v0.json.gz $DATA/torch/ops.json.gz .
$ strata kernels mm.json.gz
| 586 us of GPU work: 92 % gemm, 8 % copy (3 kernels, 3 copies, 3 memsets)
|
|   kernel                                   calls    total   share   median      p95  occupancy  GB/s
|   nvjet_sm90_tst...4_1x2_h_badd_coopA_NNT      3   537 us  91.6 %   179 us   179 us     18.8 %     -
|   Memcpy DtoD (Device -> Device)               3  47.0 us   8.0 %  15.7 us  15.8 us          -  2141
|   Memset (Device)                              3  2.11 us   0.4 %  0.70 us  0.70 us          -  0.01
|
| next: strata kernels mm.json.gz --by op   grouped by the operator that launches them
|       strata kernels mm.json.gz --roof    how close kernels are to the roofline, and the headroom

$ strata kernels gpubound_v0.json.gz --by op --limit 4
| 98.8 ms of GPU work: 79 % gemm, 13 % attention, 6 % elementwise, 3 % norm (750 kernels, 6 copies,
| 222 memsets)
|
|   kernel                       launched by                     calls    total   share   median  GB/s
|   nvjet_sm9..._coopA_bias_TNT  aten::addmm                       288  77.9 ms  78.9 %   314 us     -
|   cudnn_sdp...1x1x1_kernel0_0  aten::_cudnn_attention_forward     72  12.4 ms  12.5 %   171 us     -
|   vectorize...CUDAKernelImpl>  aten::gelu                         72  3.53 ms   3.6 %  48.7 us  2734
|   vectorize...yer_norm_kernel  aten::native_layer_norm           144  2.54 ms   2.6 %  17.6 us     -
|   9 more rows hold the other 2.5 % (--limit 0 shows all)
|
| next: strata kernels gpubound_v0.json.gz --roof
|       strata gaps gpubound_v0.json.gz --launches   how far the CPU runs ahead of the GPU

$ strata kernels gpubound_v0.json.gz --by config --filter layer_norm
| 2.54 ms of 98.8 ms of GPU work: 3 % norm (750 kernels, 6 copies, 222 memsets)
|
|   kernel                        calls    total  share   median  occupancy  grid      block
|   vectorized_layer_norm_kernel    144  2544 us  2.6 %  17.6 us     97.0 %  2048x1x1  32x4x1
|
| next: strata kernels gpubound_v0.json.gz --by op   grouped by the operator that launches them
|       strata kernels gpubound_v0.json.gz --roof

$ strata kernels tiny.json --wide
| 124 us of GPU work: 97 % gemm, 3 % copy (2 kernels, 2 copies, 0 memsets)
|
|   kernel                            launched by                calls    total   share     mean   median      p95      max  occupancy  limited by  TFLOP/s   GB/s  of its roof  headroom  family  grid    block    registers   shared
|   gemm                              aten::mm                       2   120 us  96.8 %  60.0 us  60.0 us  60.0 us  60.0 us      3.1 %  grid           0.01   0.41        1.7 %         -  gemm    66x1x1  128x1x1         64  4.10 kB
|   Memcpy DtoH (Device -> Pageable)  aten::_local_scalar_dense      2  4.00 us   3.2 %  2.00 us  2.00 us  2.00 us  2.00 us          -  -                 -  <0.01            -         -  copy    -       -                -        -
|
| next: strata kernels tiny.json --by op   grouped by the operator that launches them
|       strata kernels tiny.json --roof    how close kernels are to the roofline, and the headroom

$ strata kernels tiny.json --json --filter gemm
| {
|   "n_rows": 1,
|   "rows": [
|     {
|       "name": "void gemm<float, 128>(float*, int)",
|       "short_name": "gemm",
|       "kind": "kernel",
|       "family": "gemm",
|       "calls": 2,
|       "graph_calls": 0,
|       "total_us": 120.000,
|       "share_pct": 96.7742,
|       "mean_us": 60.000000,
|       "min_us": 60.000,
|       "median_us": 60.000,
|       "p95_us": 60.000,
|       "max_us": 60.000,
|       "occupancy_pct": 3.12,
|       "occupancy_source": "computed",
|       "limiter": "grid",
|       "registers": 64,
|       "shared_bytes": 4096,
|       "grid": [
|         66,
|         1,
|         1
|       ],
|       "block": [
|         128,
|         1,
|         1
|       ],
|       "configs": 1,
|       "bytes": 49152,
|       "gb_per_s": 0.410,
|       "flops": 1048576,
|       "tflop_per_s": 0.009,
|       "precision": "bf16",
|       "work_from": "shapes",
|       "roof_us": 2.000,
|       "of_roof_pct": 1.67,
|       "headroom_us": 118.000,
|       "op": "aten::mm",
|       "ops": 1
|     }
|   ],
|   "totals": {
|     "work_us": 124.000,
|     "kernels": 2,
|     "copies": 2,
|     "memsets": 0,
|     "replayed_us": 0.000,
|     "captured_us": 0.000
|   },
|   "known": {
|     "kernel_us": 120.000,
|     "op_us": 120.000,
|     "shapes_us": 120.000,
|     "module_us": 0.000,
|     "line_us": 120.000,
|     "units_in_depth": 0,
|     "compared_us": 0.000,
|     "carried_us": 0.000,
|     "differing_us": 0.000
|   },
|   "communication": null,
|   "trace_quality": {
|     "verdict": "good",
|     "idle_trusted": true,
|     "times_trusted": true,
|     "links_trusted": true,
|     "recording_cost_pct": 8.2,
|     "python_sample_us": null,
|     "recording": {
|       "ops": 8,
|       "calls": 6,
|       "python_frames": 3,
|       "memory_events": 2,
|       "cost_us": 24.618,
|       "working_us": 324.000
|     },
|     "recorded": [
|       "stacks",
|       "shapes",
|       "memory"
|     ],
|     "coverage": {
|       "launches_expected": 4,
|       "launches_recorded": 4,
|       "pct": 100.000,
|       "devices": [
|         {
|           "device": 0,
|           "pct": 100.000
|         }
|       ]
|     },
|     "problems": []
|   }
| }

# A trace of the CPU alone.
$ strata kernels ops.json.gz
| the trace has no device work: it was recorded on the CPU only

$ strata kernels tiny.json --filter '('
! strata: '(' is not a regular expression: Unmatched ( or \(
? 2

$ strata kernels tiny.json --sort calls_
! strata: unknown sort key 'calls_'. Did you mean 'calls'?
? 2

# How close to what the GPU reaches.
$ cp $DATA/dive/kernels.json.gz dive.json.gz; strata kernels dive.json.gz --roof --limit 6
| shown: what can be judged, 2.89 ms of the 7.83 ms recorded
| left out: start-up 4.94 ms (--whole includes it)
|
| 2.70 ms of GPU work: 40 % gemm, 21 % copy, 16 % elementwise, 11 % reduction, 8 % attention, 4 % norm
| (26 kernels, 2 copies, 6 memsets)
| headroom is on the wall clock
| NVIDIA H200 reaches 4.27 TB/s, 780 TFLOP/s in bf16, 51 TFLOP/s in fp32; the kernels run at 72 % of
| it, where their work is known (2.57 ms of 2.57 ms)
|
|   kernel                launched by              calls    total   share  GB/s  of its roof  headroom
|   elemen...ernel_cuda>  aten::copy_                  2   433 us  16.0 %   621       14.5 %    370 us
|   cunn_S...rdEpilogue>  aten::_softmax               2   218 us   8.1 %  1231       28.8 %    155 us
|   vector...KernelImpl>  aten::gelu                   2   179 us   6.6 %  2994       70.1 %   53.6 us
|   vector...norm_kernel  aten::native_layer_norm      2   108 us   4.0 %  2495       58.4 %   44.7 us
|   index_...dex_kernel>  aten::index                  2  74.4 us   2.8 %  1804       42.2 %   43.0 us
|   reduce...um_functor>  aten::sum                    2  84.0 us   3.1 %  3124       73.2 %   22.5 us
|   ... and 9 more (--limit 0 shows all)
|
| next: strata gaps dive.json.gz --launches       how far the CPU runs ahead of the GPU
|       strata kernels dive.json.gz --by config   grouped by launch configuration
$ strata kernels $DATA/advice/gemm_fp32_stack.json.gz --roof --json | grep -E 'roof|headroom|work_from|precision'
|       "precision": "fp32",
|       "work_from": "shapes",
|       "roof_us": 48326.334,
|       "of_roof_pct": 99.34,
|       "headroom_us": 318.735,
|       "headroom_wall_us": 318.719,
|       "headroom_wall_pct": 0.612,

# A decode step of transformers, captured and replayed twenty times: torch.profiler names no nodes.
$ cp $DATA/capture/h200_decode_graph_torch.json.gz decode.json.gz
$ strata kernels decode.json.gz --by op --limit 8
| shown: what can be judged, 17.0 ms of the 24.3 ms recorded
| left out: the capture of graphs 7.33 ms (--whole includes it)
|
| 10.0 ms of GPU work: 36 % elementwise, 31 % gemm, 20 % copy, 6 % reduction, 6 % attention (4,502
| kernels, 20 copies, 0 memsets)
|
|   kernel              launched by                     calls    total   share   median  TFLOP/s  GB/s
|   elemen...lFunctor>  aten::mul                         500  1085 us  10.8 %  1.95 us        -  6.23
|   nvjet_..._v_bz_TNN  aten::mm                          160   836 us   8.3 %  5.22 us     1.60   404
|   nvjet_..._v_bz_TNT  aten::mm                          160   716 us   7.1 %  4.45 us     5.16  1296
|   elemen...nel_cuda>  aten::copy_                       160   648 us   6.4 %  4.06 us        -  1036
|   nvjet_..._v_bz_TNN  aten::mm                          160   615 us   6.1 %  3.84 us     0.55   139
|   cudnn_...kernel0_0  aten::_cudnn_attention_forward     80   576 us   5.7 %  7.20 us     0.58   585
|   unroll...nel_cuda>  aten::copy_                       180   416 us   4.1 %  2.30 us        -  10.6
|   reduce...<MeanOps>  aten::mean                        180   410 us   4.1 %  2.27 us        -  7.19
|   31 more rows hold the other 47.2 % (--limit 0 shows all)
|   10.0 ms of it replayed from CUDA graphs; what was captured is known for 100 % of that
|
| next: strata kernels decode.json.gz --roof
|       strata gaps decode.json.gz --launches   how far the CPU runs ahead of the GPU
$ strata kernels decode.json.gz --json | grep -E "(replayed|captured)_us"
|     "replayed_us": 10045.529,
|     "captured_us": 10027.161

$ cp $DATA/torch/gpu_stack.json.gz .; strata kernels gpu_stack.json.gz --by module --limit 3
| 244 us of GPU work: 42 % elementwise, 28 % gemm, 14 % copy, 10 % reduction, 5 % norm, 2 % other (114
| kernels, 16 copies, 0 memsets)
|
|   kernel                                            module  calls    total   share  GB/s
|   Memcpy HtoD (Pageable -> Device)                  -          12  29.5 us  12.1 %  9.00
|   gemmSN_TN_kernel<cublasGemvTensorStridedBatched>  Linear      8  19.4 us   8.0 %     -
|   reduce_kernel<sum_functor>                        Linear      8  19.2 us   7.9 %     -
|   28 more rows hold the other 72.0 % (--limit 0 shows all)
|   rows with "-": the module is not known (125 us, 51.3 % of the time of all rows)
|
| next: strata kernels gpu_stack.json.gz --by op   grouped by the operator that launches them
|       strata kernels gpu_stack.json.gz --roof
