# Everything that is computed of traces of real programs: see figures.py, which also says what to do where
# a line changes that should not.

$ cd $DATA && ls whatif/pingpong_v0.json.gz whatif/gpubound_v0.json.gz torch/gpu_training.json.gz \
>   torch/gpu_stack.json.gz torch/gpu_graph.json.gz torch/gpu_threads.json.gz \
>   torch/gpu_streams.json.gz torch/gpu_deep_queue.json.gz torch/gpu_triton.json.gz \
>   capture/h200_mix_torch.json.gz comm/slow_rank/rank2.json \
>   advice/attention_math_stack.json.gz advice/elementwise_chain_stack.json.gz \
>   matmul_add/128_bf16_warm_eager.json.gz matmul_add/4096_bf16_cold_eager.json.gz \
>   matmul_add/4096_bf16_warm_compile.json.gz torch/modules.json.gz torch/backward.json.gz \
>   torch/steps.json.gz tiny.json > "$OLDPWD/traces"

$ here=$PWD; cd $DATA && ../cli/figures.py report $(cat "$here/traces")
| report: 238 keys, 6834 values, sum 8.24798e+11, cb9b
$ here=$PWD; cd $DATA && ../cli/figures.py syncs $(cat "$here/traces")
| syncs: 67 keys, 1466 values, sum 7.80136e+06, a170
$ here=$PWD; cd $DATA && ../cli/figures.py gaps $(cat "$here/traces")
| gaps: 79 keys, 64182 values, sum 4.98412e+07, 2ca2
$ here=$PWD; cd $DATA && ../cli/figures.py kernels $(cat "$here/traces")
| kernels: 112 keys, 5477 values, sum 3.04643e+12, 67a9
$ here=$PWD; cd $DATA && ../cli/figures.py 'kernels --by op' $(cat "$here/traces")
| kernels --by op: 112 keys, 5612 values, sum 3.04643e+12, 410d
$ here=$PWD; cd $DATA && ../cli/figures.py memory $(cat "$here/traces")
| memory: 71 keys, 1120 values, sum 1.88716e+09, b531
$ here=$PWD; cd $DATA && ../cli/figures.py 'gaps --launches' $(cat "$here/traces")
| gaps --launches: 136 keys, 5169 values, sum 5.4744e+07, 22e2
$ here=$PWD; cd $DATA && ../cli/figures.py stages $(cat "$here/traces")
| stages: 87 keys, 2818 values, sum 6.29096e+08, bf7f
$ here=$PWD; cd $DATA && ../cli/figures.py steps $(cat "$here/traces")
| steps: 70 keys, 8402 values, sum 1.09932e+08, 9260
$ here=$PWD; cd $DATA && ../cli/figures.py table $(cat "$here/traces")
| table: 53 keys, 14580 values, sum 2.49783e+12, 5a79
$ here=$PWD; cd $DATA && ../cli/figures.py 'table --by shape' $(cat "$here/traces")
| table --by shape: 54 keys, 18799 values, sum 2.49783e+12, 00c1
$ here=$PWD; cd $DATA && ../cli/figures.py 'info --lint' $(cat "$here/traces")
| info --lint: 30 keys, 512 values, sum 409003, 675a
$ here=$PWD; cd $DATA && ../cli/figures.py info $(cat "$here/traces")
| info: 43 keys, 1847 values, sum 2.40272e+12, da6e
$ cd $DATA && ../cli/figures.py offload offload/*.json.gz && ../cli/figures.py report comm/slow_rank
| offload: 102 keys, 897 values, sum 8.67184e+11, 8ec4
| report: 48 keys, 246 values, sum 1.0499e+08, be36

# Two traces.
$ cd $DATA && ../cli/figures.py 'diff whatif/pingpong_v0.json.gz' whatif/pingpong_v1.json.gz whatif/gpubound_v0.json.gz
| diff whatif/pingpong_v0.json.gz: 128 keys, 745 values, sum 2.87015e+06, fb4f
$ cd $DATA && ../cli/figures.py 'diff torch/gpu_training.json.gz' torch/gpu_stack.json.gz matmul_add/4096_bf16_warm_compile.json.gz
| diff torch/gpu_training.json.gz: 142 keys, 1437 values, sum 647197, 7cde

# Traces that are odd in one way each, and small programs that do a little of everything: see programs.py.
$ mkdir odd && cd odd && $DATA/../cli/programs.py && ls | wc -l
| 65
$ cd odd && $DATA/../cli/figures.py report *.json
| report: 235 keys, 17326 values, sum 5.32398e+06, b422
$ cd odd && $DATA/../cli/figures.py syncs *.json
| syncs: 66 keys, 5674 values, sum 6.35858e+07, 705b
$ cd odd && $DATA/../cli/figures.py gaps *.json
| gaps: 74 keys, 40335 values, sum 3.09118e+06, 0bef
$ cd odd && $DATA/../cli/figures.py kernels *.json
| kernels: 109 keys, 13199 values, sum 9.8683e+07, 9a19
$ cd odd && $DATA/../cli/figures.py memory *.json
| memory: 71 keys, 9433 values, sum 2.7936e+08, 0ae0
$ cd odd && $DATA/../cli/figures.py 'gaps --launches' *.json
| gaps --launches: 136 keys, 28765 values, sum 1.37543e+06, fa30
$ cd odd && $DATA/../cli/figures.py stages *.json
| stages: 87 keys, 13679 values, sum 1.89594e+08, c8de
$ cd odd && $DATA/../cli/figures.py steps *.json
| steps: 64 keys, 10676 values, sum 9.01491e+07, 3b6c
$ cd odd && $DATA/../cli/figures.py table *.json
| table: 53 keys, 23280 values, sum 1.9134e+07, f759
