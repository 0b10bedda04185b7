$ cp $DATA/matmul_add/4096_bf16_warm_compile.json.gz mm.json.gz; cp $DATA/tiny.json .
$ cp $DATA/whatif/gpubound_v0.json.gz $DATA/torch/ops.json.gz .
$ strata kernels mm.json.gz
| 3 kernels, 3 copies, 3 memsets: 586 us of device work; totals in us, single calls in us
|
|   kernel                              calls  total     %  median   p95  occ %  limited by   achieved
|   nvjet_sm90_t...x2_h_badd_coopA_NNT      3    537  91.6     179   179     19  registers           -
|   Memcpy DtoD (Device -> Device)          3   47.0   8.0    15.7  15.8      -  -           2141 GB/s
|   Memset (Device)                         3   2.11   0.4    0.70  0.70      -  -           0.01 GB/s
|
| next: strata kernels mm.json.gz --by op   grouped by the operator that launches them
|       strata kernels mm.json.gz --roof    how close kernels are to the roofline, and the headroom

$ strata kernels gpubound_v0.json.gz --by op --limit 4
| 750 kernels, 6 copies, 222 memsets: 98.8 ms of device work; totals in ms, single calls in us
|
|   kernel                    launched by                 calls  total     %  median  occ %   achieved
|   nvjet_sm...oopA_bias_TNT  aten::addmm                   288   77.9  78.9     314     19          -
|   cudnn_ge...1x1_kernel0_0  aten::_cu...ention_forward     72   12.4  12.5     171     19          -
|   vectoriz...DAKernelImpl>  aten::gelu                     72   3.53   3.6    48.7    100  2734 GB/s
|   vectoriz...r_norm_kernel  aten::native_layer_norm       144   2.54   2.6    17.6     97          -
|   ... and 9 more (--limit 0 shows all)
|
| next: strata kernels gpubound_v0.json.gz --roof
|       strata launches gpubound_v0.json.gz         how far the CPU runs ahead of the GPU

$ strata kernels gpubound_v0.json.gz --by config --filter layer_norm
| 750 kernels, 6 copies, 222 memsets: 98.8 ms of device work; totals in us, single calls in us
|
|   kernel                        calls  total    %  median  occ %  achieved  grid      block
|   vectorized_layer_norm_kernel    144   2544  2.6    17.6     97         -  2048x1x1  32x4x1
|
| next: strata kernels gpubound_v0.json.gz --by op   grouped by the operator that launches them
|       strata kernels gpubound_v0.json.gz --roof

$ strata kernels tiny.json --wide
| 2 kernels, 2 copies, 0 memsets: 124 us of device work; totals in us, single calls in us
|
|   kernel                            launched by                calls  total     %  mean  median   p95   max  occ %  limited by      achieved          roof  of roof  headroom  family  grid    block    regs   shared
|   gemm                              aten::mm                       2    120  96.8  60.0    60.0  60.0  60.0      3  grid        0.01 TFLOP/s  0.52 TFLOP/s      2 %         -  gemm    66x1x1  128x1x1    64  4.10 kB
|   Memcpy DtoH (Device -> Pageable)  aten::_local_scalar_dense      2   4.00   3.2  2.00    2.00  2.00  2.00      -  -             <0.01 GB/s             -        -         -  copy    -       -           -        -
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
|   "communication": null,
|   "trace_quality": {
|     "verdict": "good",
|     "idle_trusted": true,
|     "times_trusted": true,
|     "links_trusted": true,
|     "recording_cost_pct": 9.0,
|     "python_sample_us": null,
|     "recording": {
|       "ops": 8,
|       "calls": 6,
|       "python_frames": 3,
|       "memory_events": 2,
|       "cost_us": 26.650,
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
|     "doubts": []
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
| 39 kernels, 3 copies, 9 memsets: 4.06 ms of device work; totals in us, headroom in us of wall clock
| NVIDIA H200 reaches 4.27 TB/s, 780 TFLOP/s in bf16, 51 TFLOP/s in fp32; the kernels run at 72 % of
| it, where their work is known (3.86 ms of 3.86 ms)
|
|   kernel                   launched by              calls  total     %   achieved  of roof  headroom
|   elementw...kernel_cuda>  aten::copy_                  3    650  16.0   620 GB/s     15 %       555
|   cunn_Sof...ardEpilogue>  aten::_softmax               3    327   8.1  1230 GB/s     29 %       233
|   vectoriz...AKernelImpl>  aten::gelu                   3    270   6.7  2984 GB/s     70 %      81.3
|   vectoriz..._norm_kernel  aten::native_layer_norm      3    161   4.0  2503 GB/s     59 %      66.6
|   index_el...ndex_kernel>  aten::index                  3    111   2.7  1816 GB/s     43 %      63.7
|   reduce_k...sum_functor>  aten::sum                    3    127   3.1  3116 GB/s     73 %      34.2
|   ... and 9 more (--limit 0 shows all)
|
| next: strata launches dive.json.gz              how far the CPU runs ahead of the GPU
|       strata kernels dive.json.gz --by config   grouped by launch configuration
$ strata kernels $DATA/advice/gemm_fp32_stack.json.gz --roof --json | grep -E 'roof|headroom|work_from|precision'
|       "precision": "fp32",
|       "work_from": "shapes",
|       "roof_us": 48326.334,
|       "of_roof_pct": 99.34,
|       "headroom_us": 318.735,
|       "headroom_wall_us": 318.719,

# A decode step of transformers, captured and replayed twenty times: torch.profiler names no nodes.
$ cp $DATA/capture/h200_decode_graph_torch.json.gz decode.json.gz
$ strata kernels decode.json.gz --by op --limit 8
| 4,502 kernels, 20 copies, 0 memsets: 10.0 ms of device work; totals in us, single calls in us
|
|   kernel                 launched by                 calls  total     %  median  occ %      achieved
|   element...MulFunctor>  aten::mul                     500   1085  10.8    1.95      0     6.23 GB/s
|   nvjet_s...x1_v_bz_TNN  aten::mm                      160    836   8.3    5.22     18  1.60 TFLOP/s
|   nvjet_s...x1_v_bz_TNT  aten::mm                      160    716   7.1    4.45      6  5.16 TFLOP/s
|   element...ernel_cuda>  aten::copy_                   160    648   6.4    4.06     97     1036 GB/s
|   nvjet_s...x1_v_bz_TNN  aten::mm                      160    615   6.1    3.84      5  0.55 TFLOP/s
|   cudnn_g...1_kernel0_0  aten::_cu...ention_forward     80    576   5.7    7.20      3  0.58 TFLOP/s
|   unrolle...ernel_cuda>  aten::copy_                   180    416   4.1    2.30      0     10.6 GB/s
|   reduce_...el<MeanOps>  aten::mean                    180    410   4.1    2.27      0     7.19 GB/s
|   ... and 31 more (--limit 0 shows all)
|   10.0 ms of it replayed from CUDA graphs; what was captured is known for 100 % of that
|
| next: strata kernels decode.json.gz --roof   how close kernels are to the roofline, and the headroom
|       strata launches decode.json.gz         how far the CPU runs ahead of the GPU
$ strata kernels decode.json.gz --json | grep -E "(replayed|captured)_us"
|     "replayed_us": 10045.529,
|     "captured_us": 10027.161
