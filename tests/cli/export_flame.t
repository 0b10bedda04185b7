# Time by stack, as a tree of what matters.
$ cp $DATA/wan/wan_before_compile.json.gz $DATA/whatif/pingpong_v0.json.gz . && strata export --to flame wan_before_compile.json.gz
| GPU time by the stack that launched it: 2.08 s in 317 stacks
|     2.07 s 99.7 %  (27) call  /tmp/torchinductor_root...ks7m3zp3qiukxgzoh2u7q347g3norbj3jm7u.py:1102
|     1.44 s 69.2 %    (4) cudnn_generated_fort_native_..._knob_7_64x128x128_4x1x1_cga1x1x1_kernel0_0
|     444 ms 21.4 %    (2) nvjet_sm90_tst_256x152_64x4_1x2_h_bz_coopA_bias_TNT
|     186 ms  8.9 %    run  torch/_inductor/runtime/triton_heuristics.py:1407
|    52.3 ms  2.5 %      (4) triton_red_fused__fused_rms_norm_add_copy_mul_slice_sub_unbind_view_1
|    47.7 ms  2.3 %      (4) triton_poi_fused_gelu_view_6
|   (n) stands for n frames that only call the next one; parts below 2 % are left out
| next: strata export wan_before_compile.json.gz -o flame.html   the same as a picture
$ strata export --to flame wan_before_compile.json.gz --of idle --limit 6
| GPU idle time by what the CPU did meanwhile: 33.2 ms in 816 stacks
|    33.2 ms  100 %  (5) __call__  diffusers/pipelines/wan/pipeline_wan.py:381
|    16.6 ms 50.1 %    (3) _set_context  diffusers/hooks/hooks.py:268
|    7.86 ms 23.7 %      named_modules  torch/nn/modules/module.py:2882
|    6.77 ms 20.4 %        named_modules  torch/nn/modules/module.py:2882
|    5.57 ms 16.8 %          named_modules  torch/nn/modules/module.py:2882
|    3.68 ms 11.1 %            named_modules  torch/nn/modules/module.py:2882
|   (n) stands for n frames that only call the next one; parts below 2 % are left out; --limit 0 shows all
| next: strata export wan_before_compile.json.gz -o flame.html   the same as a picture
$ strata export --to flame wan_before_compile.json.gz --of wait
| time the CPU waits for the GPU, by stack: 1.13 s in 40 stacks
|     1.13 s  100 %  (8) step  diffusers/schedulers/scheduling_unipc_multistep.py:1153
|     565 ms 50.0 %    (4) cudaStreamSynchronize
|     565 ms 50.0 %    (5) cudaStreamSynchronize
|   (n) stands for n frames that only call the next one; parts below 2 % are left out
| next: strata export wan_before_compile.json.gz -o flame.html   the same as a picture
$ strata export --to flame pingpong_v0.json.gz --of cpu
| CPU time by stack: 41.0 ms in 36 stacks
|    40.6 ms 99.0 %  (2) decode_step
|    21.7 ms 53.0 %    transformer_forward
|    12.7 ms 30.9 %      aten::linear
|    9.46 ms 23.1 %        aten::addmm
|    2.49 ms  6.1 %          cuLaunchKernelEx
|    1.20 ms  2.9 %        aten::t
|    3.93 ms  9.6 %      aten::gelu
|    1.70 ms  4.1 %        cudaLaunchKernel
|    11.7 ms 28.6 %    cache_context
|    6.00 ms 14.6 %    sampler_step
|    1.04 ms  2.5 %      aten::linalg_vector_norm
|    1.03 ms  2.5 %      aten::item
|     980 us  2.4 %        aten::_local_scalar_dense
|     871 us  2.1 %      aten::to
|     826 us  2.0 %        aten::_to_copy
|   (n) stands for n frames that only call the next one; parts below 2 % are left out
| next: strata export pingpong_v0.json.gz -o flame.html   the same as a picture

# For other tools.
$ strata export wan_before_compile.json.gz --of wait --to folded | sed 's/.*index_for_timestep/... index_for_timestep/' | sort | tail -2
| <module> (pipes.py:69);profiled (pipes.py:62);pipeline_call;call (pipes.py:42);decorate_context (torch/utils/_contextlib.py:120);__call__ (diffusers/pipelines/wan/pipeline_wan.py:381);w (pipes.py:53);scheduler_step;step (diffusers/schedulers/scheduling_unipc_multistep.py:1153);multistep_uni_p_bh_update (diffusers/schedulers/scheduling_unipc_multistep.py:833);<built-in method tensor of type object;aten::to;aten::_to_copy;aten::copy_;cudaStreamSynchronize 23719
| <module> (pipes.py:69);profiled (pipes.py:62);synchronize (torch/cuda/__init__.py:1152);<built-in function _cuda_synchronize>;cudaDeviceSynchronize 19146
$ strata export wan_before_compile.json.gz -o gpu.speedscope.json
! strata: wrote gpu.speedscope.json (2.08 s of time): open gpu.speedscope.json in https://www.speedscope.app
$ jq -c '.profiles[0] | [.type, .unit, .endValue, (.samples | length)]' gpu.speedscope.json
| ["sampled","nanoseconds",2078085157,73]
$ strata export wan_before_compile.json.gz -o gpu.pb.gz
! strata: wrote gpu.pb.gz (2.08 s of time): go tool pprof -http=: gpu.pb.gz
$ strata export --to flame wan_before_compile.json.gz --json | jq -c '[.of, .total_ns, (.nodes | length), .nodes[0]]'
| ["gpu",2078085157,317,{"parent":0,"frame":0,"self_ns":0,"total_ns":2078085157,"count":0}]

# Mistakes.
$ strata export wan_before_compile.json.gz -o flame.xyz
! strata: cannot tell the format from 'flame.xyz'; use --to (strata export --help lists formats)
? 2
$ strata export --to flame wan_before_compile.json.gz --of memory
! strata: --of takes one of gpu|cpu|idle|wait, not 'memory'; see strata export --help
? 2
$ strata export --to flame $DATA/torch/plain.json.gz
! strata: the trace has no GPU time by the stack that launched it: --of cpu shows what its threads do
? 2
