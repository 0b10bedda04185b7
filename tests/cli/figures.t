# Everything that is computed of traces of real programs: see figures.py. A change that is meant shows
# here under the keys it changes, and under no other.

$ cd $DATA && ls whatif/pingpong_v0.json.gz whatif/gpubound_v0.json.gz torch/gpu_training.json.gz \
>   torch/gpu_stack.json.gz torch/gpu_graph.json.gz torch/gpu_threads.json.gz \
>   torch/gpu_streams.json.gz torch/gpu_deep_queue.json.gz torch/gpu_triton.json.gz \
>   capture/h200_mix_torch.json.gz comm/slow_rank/rank2.json \
>   advice/attention_math_stack.json.gz advice/elementwise_chain_stack.json.gz \
>   matmul_add/128_bf16_warm_eager.json.gz matmul_add/4096_bf16_cold_eager.json.gz \
>   matmul_add/4096_bf16_warm_compile.json.gz torch/modules.json.gz torch/backward.json.gz \
>   torch/steps.json.gz tiny.json > "$OLDPWD/traces"

$ here=$PWD; cd $DATA && ../cli/figures.py report $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| wall_us: 20 numbers, sum 518840, 07a2
| program_wall_us: 0 texts, e970
| bound: 20 texts, 3991
| gpu_busy_pct: 20 numbers, sum 617.565, 4372
| communication: 0 texts, b2a1
| part: 0 texts, e970
| abstains: 0 of 20 true, b5e5
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4
| gains_are: 20 texts, b74e
| replay.traced_us: 20 numbers, sum 518840, 07a2
| replay.replayed_us: 20 numbers, sum 518840, 07a2
| replay.error_pct: 20 numbers, sum 0, c2a7
| replay.without_profiler_us: 20 numbers, sum 473723, 65f5
| replay.cost_per_launch_us: 20 numbers, sum 202.452, 9d33
| replay.cost_per_op_us: 20 numbers, sum 72.652, 4c98
| replay.fitted: 0 of 20 true, b5e5
| roofline.gpu: 20 texts, 6a18
| roofline.from: 20 texts, 61cb
| roofline.memory_gb_per_s: 16 numbers, sum 68320, 3e09
| roofline.of_roof_pct: 5 numbers, sum 321.57, b84d
| roofline.kernels_us: 20 numbers, sum 321245, f1f3
| roofline.known_us: 20 numbers, sum 204565, cf48
| roofline.communication_us: 20 numbers, sum 900.015, 692d
| roofline.at_roof: 0 of 20 true, b5e5
| kernels[].name: 114 texts, 1f4d
| kernels[].short_name: 114 texts, fc8b
| kernels[].op: 114 texts, c0d1
| kernels[].family: 114 texts, e617
| kernels[].calls: 114 numbers, sum 4431, c768
| kernels[].total_us: 114 numbers, sum 323084, c82a
| kernels[].share_pct: 114 numbers, sum 1642.73, b9f5
| kernels[].work_from: 114 texts, beee
| kernels[].tflop_per_s: 7 numbers, sum 82.39, 0360
| kernels[].gb_per_s: 75 numbers, sum 103320, cfa9
| kernels[].of_roof_pct: 63 numbers, sum 4821.56, 6ce2
| kernels[].headroom_us: 63 numbers, sum 43310.8, d92d
| kernels[].headroom_wall_us: 57 numbers, sum 42540.1, 0a9d
| kernels[].headroom_wall_pct: 57 numbers, sum 64.151, ccad
| cpu.only: 3 of 20 true, 90f8
| cpu.operators[].name: 124 texts, 793a
| cpu.operators[].calls: 124 numbers, sum 7839, 2e8e
| cpu.operators[].self_us: 124 numbers, sum 130989, a6b6
| cpu.operators[].share_pct: 124 numbers, sum 847.469, 01ff
| cpu.functions[].name: 34 texts, e5b0
| cpu.functions[].calls: 34 numbers, sum 497, ca60
| cpu.functions[].self_us: 34 numbers, sum 46949.9, 1193
| cpu.functions[].share_pct: 34 numbers, sum 281.76, 8039
| cpu.data_wait_us: 20 numbers, sum 50, d4d2
| cpu.data_waits: 20 numbers, sum 5, 60d9
| findings[].rule: 38 texts, 3587
| findings[].title: 38 texts, 9667
| findings[].subject: 38 texts, a942
| findings[].severity: 38 texts, 76ea
| findings[].source.file: 10 texts, 80bb
| findings[].source.line: 10 numbers, sum 1156, 37ad
| findings[].source.function: 10 texts, f814
| findings[].blocked_us: 38 numbers, sum 190921, 5fe6
| findings[].exposed_us: 38 numbers, sum 263964, 6fe4
| findings[].device_us: 6 numbers, sum 186863, 1a77
| findings[].predicted_gain_us: 38 numbers, sum 230074, ced4
| findings[].predicted_gain_pct: 38 numbers, sum 532.454, 7f13
| findings[].predicted_gain_low_pct: 38 numbers, sum 502.083, fc27
| findings[].predicted_gain_high_pct: 38 numbers, sum 562.678, 47c4
| findings[].predicted_gain_alone_pct: 38 numbers, sum 544.323, 7a5e
| findings[].effort: 38 texts, 2d88
| findings[].only_together: 0 of 38 true, 3d00
| findings[].promises_gain: 34 of 38 true, ab35
| findings[].why: 38 texts, 5cec
| findings[].fix: 38 texts, d78e
| findings[].not_fixed: 38 texts, 9f84
| findings[].thresholds.report_gain_pct: 32 numbers, sum 6.4, d315
| findings[].evidence[].at_us: 78 numbers, sum 1.25129e+06, 2d4e
| findings[].evidence[].row: 55 numbers, sum 94931, 0271
| findings[].evidence[].byte_offset: 55 numbers, sum 5.16783e+07, 342a
| findings[].evidence[].text: 111 texts, 5cd5
| not_worth_it.count: 20 numbers, sum 9, b88b
| not_worth_it.blocked_us: 20 numbers, sum 13676.2, 8de8
| not_worth_it.gain_us: 20 numbers, sum 0, c2a7
| all_fixed_us: 20 numbers, sum 243650, e476
| no_gain_reason: 3 texts, d54d
| idle_unexplained: 8 of 20 true, 5000
| ladder[].kind: 73 texts, 7759
| ladder[].name: 73 texts, 263d
| ladder[].wall_us: 73 numbers, sum 1.16156e+06, c20f
| ladder[].gain_pct: 73 numbers, sum 1287.53, 8940
| ladder[].finding: 34 numbers, sum 96, 3fb7
| checklist[].id: 120 texts, 700c
| checklist[].question: 120 texts, 7e28
| checklist[].value: 70 numbers, sum 2850.34, 621f
| checklist[].unit: 120 texts, 0a68
| checklist[].healthy: 46 of 120 true, 4d8d
| checklist[].verdict: 120 texts, 083d
| findings[].source: 0 texts, 3df4
| findings[].options[].name: 27 texts, 2758
| findings[].options[].gain_pct: 27 numbers, sum 695.807, f611
| findings[].options[].effort: 27 texts, e857
| findings[].options[].note: 27 texts, 90ee
| idle_causes[].kind: 71 texts, 8fb7
| idle_causes[].what: 71 texts, afd0
| idle_causes[].idle_us: 71 numbers, sum 125428, 2cf2
| idle_causes[].share_pct: 71 numbers, sum 909.053, 101c
| communication.device: 1 numbers, sum 0, 03f9
| communication.recorded_us: 1 numbers, sum 5839.12, 3d4d
| communication.compute_us: 1 numbers, sum 5350.1, 4d5c
| communication.copy_us: 1 numbers, sum 0, 8136
| communication.comm_us: 1 numbers, sum 900.015, 2830
| communication.exposed_us: 1 numbers, sum 300.005, 5ecf
| communication.exposed_pct: 1 numbers, sum 5.138, 30f7
| communication.overlap_pct: 1 numbers, sum 66.667, 6666
| communication.groups[].group: 1 texts, e08b
| communication.groups[].group_description: 1 texts, 432c
| communication.groups[].group_size: 1 numbers, sum 4, c6fd
| communication.groups[].calls: 1 numbers, sum 10, c3a2
| communication.groups[].time_us: 1 numbers, sum 900.015, 2830
| communication.groups[].exposed_us: 1 numbers, sum 300.005, 5ecf
| communication.collectives[].name: 1 texts, d4db
| communication.collectives[].kernel: 1 texts, a449
| communication.collectives[].group: 1 texts, e08b
| communication.collectives[].group_description: 1 texts, 432c
| communication.collectives[].group_size: 1 numbers, sum 4, c6fd
| communication.collectives[].calls: 1 numbers, sum 10, c3a2
| communication.collectives[].time_us: 1 numbers, sum 900.015, 2830
| communication.collectives[].exposed_us: 1 numbers, sum 300.005, 5ecf
| communication.collectives[].overlap_pct: 1 numbers, sum 66.667, 6666
| communication.collectives[].min_us: 1 numbers, sum 60.001, 0193
| communication.collectives[].median_us: 1 numbers, sum 90.001, 717a
| communication.collectives[].max_us: 1 numbers, sum 120.002, de5c
| communication.collectives[].bytes: 1 numbers, sum 1.04858e+08, df35
| communication.collectives[].algo_gb_per_s: 1 numbers, sum 104.856, a263
| communication.collectives[].bus_gb_per_s: 1 numbers, sum 157.284, eedf
| communication.collectives[].best_bus_gb_per_s: 1 numbers, sum 209.712, cbd0
| findings[].thresholds.comm_share_pct: 1 numbers, sum 5, 7104
| findings[].thresholds.first_step_ratio: 4 numbers, sum 6, dfd2
| findings[].thresholds.gap_us: 7 numbers, sum 35, 94a0
| findings[].thresholds.medium_gain_pct: 1 numbers, sum 2, 49bd

$ here=$PWD; cd $DATA && ../cli/figures.py syncs $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| steps: 16 numbers, sum 376, b341
| has_stacks: 5 of 20 true, a0ef
| totals.count: 20 numbers, sum 100, 1bab
| totals.blocked_us: 20 numbers, sum 260039, 9ff3
| totals.exposed_us: 20 numbers, sum 8320.11, 7fca
| profiler.count: 20 numbers, sum 15, 88a1
| profiler.blocked_us: 20 numbers, sum 380.14, 6bdb
| backpressure.count: 20 numbers, sum 0, 142f
| backpressure.blocked_us: 20 numbers, sum 0, c2a7
| sites[].id: 35 numbers, sum 118, f3b3
| sites[].call: 35 texts, e9d4
| sites[].op: 22 texts, d119
| sites[].inner_op: 22 texts, 1eb6
| sites[].kind: 35 texts, 4821
| sites[].called: 4 texts, 4106
| sites[].source.file: 5 texts, 0563
| sites[].source.line: 5 numbers, sum 356, 45cf
| sites[].source.function: 5 texts, a592
| sites[].source_by: 35 texts, 733f
| sites[].line_is_function_start: 2 of 35 true, b82a
| sites[].annotation: 35 texts, 716f
| sites[].stack[]: 19 texts, e63e
| sites[].count: 35 numbers, sum 100, a966
| sites[].per_step: 28 numbers, sum 5.667, 0d45
| sites[].blocked_us: 35 numbers, sum 260039, 195d
| sites[].exposed_us: 35 numbers, sum 8320.11, bcc1
| sites[].longest_us: 35 numbers, sum 197804, 225f
| sites[].floor_us: 31 numbers, sum 2787.02, dba3
| sites[].drains: 6 of 35 true, e5d7
| sites[].queue_depth: 35 numbers, sum 467, 1f9c
| sites[].behind_us: 35 numbers, sum 193979, e0c2
| sites[].bytes: 13 numbers, sum 5.25019e+06, 7d95
| sites[].first_us: 35 numbers, sum 555701, 20e9
| sites[].last_us: 35 numbers, sum 707015, 249f
| story: 0 texts, e970
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4
| sites[].source: 0 texts, 0519

$ here=$PWD; cd $DATA && ../cli/figures.py gaps $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| min_us: 20 numbers, sum 100, 6443
| devices[].device: 17 numbers, sum 0, ffdc
| devices[].start_us: 17 numbers, sum 40882.5, 8bd9
| devices[].window_us: 17 numbers, sum 451239, 8260
| devices[].busy_us: 17 numbers, sum 322644, 7352
| devices[].idle_us: 17 numbers, sum 128596, 37d8
| devices[].before_us: 17 numbers, sum 40882.5, 8bd9
| devices[].after_us: 17 numbers, sum 3098.46, d345
| devices[].gaps: 17 numbers, sum 4518, fc7d
| devices[].gaps_listed: 17 numbers, sum 2676, cad3
| devices[].median_us: 17 numbers, sum 779.435, ecd9
| devices[].p95_us: 17 numbers, sum 9077.97, 8b31
| devices[].mean_kernel_us: 17 numbers, sum 1464.07, eabf
| devices[].mean_launch_interval_us: 17 numbers, sum 1654.72, d21e
| devices[].small_shapes: 7 of 17 true, 3089
| causes[].device: 421 numbers, sum 0, b522
| causes[].kind: 421 texts, 74c9
| causes[].name: 421 texts, 13fc
| causes[].source: 0 texts, 0dad
| causes[].count: 421 numbers, sum 10496, a67a
| causes[].idle_us: 421 numbers, sum 128596, 4379
| causes[].in_steps: 421 numbers, sum 2621, 2fbd
| causes[].recurs: 271 of 421 true, e52b
| causes[].source.file: 71 texts, 5ecf
| causes[].source.line: 71 numbers, sum 8481, 6958
| causes[].source.function: 71 texts, b725
| gaps[].device: 2676 numbers, sum 0, a9b2
| gaps[].start_us: 2676 numbers, sum 4.79614e+07, 2975
| gaps[].dur_us: 2676 numbers, sum 125748, d452
| gaps[].late_us: 2676 numbers, sum 98764.2, 1c5a
| gaps[].step: 1044 numbers, sum 91223, 2543
| gaps[].sync_site: 137 numbers, sum 229, 6a3a
| gaps[].after: 2676 texts, 750c
| gaps[].before: 2676 texts, 7fd3
| gaps[].launch: 2676 texts, a0ec
| gaps[].causes[].kind: 8654 texts, 9d46
| gaps[].causes[].name: 8654 texts, 646e
| gaps[].causes[].source.file: 584 texts, 2f6c
| gaps[].causes[].source.line: 584 numbers, sum 86041, dbe2
| gaps[].causes[].source.function: 584 texts, c351
| gaps[].causes[].idle_us: 8654 numbers, sum 125748, ec99
| gaps[].causes[].source: 0 texts, c97d
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4
| causes[].sync_site: 16 numbers, sum 50, 1d00
| causes[].inside[].name: 10 texts, 7839
| causes[].inside[].source.file: 10 texts, 8427
| causes[].inside[].source.line: 10 numbers, sum 9585, 25ad
| causes[].inside[].source.function: 10 texts, 7839
| causes[].inside[].idle_us: 10 numbers, sum 2948.25, 11eb

$ here=$PWD; cd $DATA && ../cli/figures.py kernels $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| n_rows: 20 numbers, sum 156, 3dc1
| rows[].name: 156 texts, 3b13
| rows[].short_name: 156 texts, ee11
| rows[].kind: 156 texts, 6859
| rows[].family: 156 texts, ec79
| rows[].calls: 156 numbers, sum 4541, 5da1
| rows[].graph_calls: 156 numbers, sum 140, 5683
| rows[].total_us: 156 numbers, sum 323244, 157c
| rows[].share_pct: 156 numbers, sum 1700, 6b11
| rows[].mean_us: 156 numbers, sum 14759.6, 4d6b
| rows[].min_us: 156 numbers, sum 14124, 50f2
| rows[].median_us: 156 numbers, sum 14971.9, 981a
| rows[].p95_us: 156 numbers, sum 15154.8, e08b
| rows[].max_us: 156 numbers, sum 15161.8, 153b
| rows[].occupancy_pct: 127 numbers, sum 3288.23, 160a
| rows[].occupancy_source: 127 texts, 18a3
| rows[].limiter: 104 texts, 421b
| rows[].registers: 132 numbers, sum 6095, f7ff
| rows[].shared_bytes: 132 numbers, sum 1.55807e+06, 3625
| rows[].grid[]: 396 numbers, sum 4.60833e+06, 6e07
| rows[].block[]: 396 numbers, sum 27599, 1ebb
| rows[].configs: 132 numbers, sum 142, 579d
| rows[].bytes: 104 numbers, sum 5.72411e+11, dfc2
| rows[].gb_per_s: 104 numbers, sum 111459, 3f9d
| rows[].flops: 7 numbers, sum 2.47391e+12, 3102
| rows[].tflop_per_s: 7 numbers, sum 82.39, 0360
| rows[].precision: 7 texts, 18bb
| rows[].work_from: 156 texts, a3d8
| rows[].roof_us: 89 numbers, sum 161495, 90d1
| rows[].of_roof_pct: 89 numbers, sum 6789.36, 0b8a
| rows[].headroom_us: 89 numbers, sum 43342, 9f67
| rows[].op: 156 texts, 9adc
| rows[].ops: 156 numbers, sum 161, 13db
| totals.work_us: 20 numbers, sum 323244, bad7
| totals.kernels: 20 numbers, sum 4220, 698a
| totals.copies: 20 numbers, sum 76, 9d4c
| totals.memsets: 20 numbers, sum 245, 2fe8
| totals.replayed_us: 20 numbers, sum 289.919, cd87
| totals.captured_us: 20 numbers, sum 206.239, 6399
| communication: 0 texts, b2a1
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4
| rows[].captured.op: 1 texts, 79a4
| rows[].captured.module: 0 texts, fbb3
| rows[].captured.source: 0 texts, fbb3
| communication.device: 1 numbers, sum 0, 03f9
| communication.recorded_us: 1 numbers, sum 5839.12, 3d4d
| communication.compute_us: 1 numbers, sum 5350.1, 4d5c
| communication.copy_us: 1 numbers, sum 0, 8136
| communication.comm_us: 1 numbers, sum 900.015, 2830
| communication.exposed_us: 1 numbers, sum 300.005, 5ecf
| communication.exposed_pct: 1 numbers, sum 5.138, 30f7
| communication.overlap_pct: 1 numbers, sum 66.667, 6666
| communication.groups[].group: 1 texts, e08b
| communication.groups[].group_description: 1 texts, 432c
| communication.groups[].group_size: 1 numbers, sum 4, c6fd
| communication.groups[].calls: 1 numbers, sum 10, c3a2
| communication.groups[].time_us: 1 numbers, sum 900.015, 2830
| communication.groups[].exposed_us: 1 numbers, sum 300.005, 5ecf
| communication.collectives[].name: 1 texts, d4db
| communication.collectives[].kernel: 1 texts, a449
| communication.collectives[].group: 1 texts, e08b
| communication.collectives[].group_description: 1 texts, 432c
| communication.collectives[].group_size: 1 numbers, sum 4, c6fd
| communication.collectives[].calls: 1 numbers, sum 10, c3a2
| communication.collectives[].time_us: 1 numbers, sum 900.015, 2830
| communication.collectives[].exposed_us: 1 numbers, sum 300.005, 5ecf
| communication.collectives[].overlap_pct: 1 numbers, sum 66.667, 6666
| communication.collectives[].min_us: 1 numbers, sum 60.001, 0193
| communication.collectives[].median_us: 1 numbers, sum 90.001, 717a
| communication.collectives[].max_us: 1 numbers, sum 120.002, de5c
| communication.collectives[].bytes: 1 numbers, sum 1.04858e+08, df35
| communication.collectives[].algo_gb_per_s: 1 numbers, sum 104.856, a263
| communication.collectives[].bus_gb_per_s: 1 numbers, sum 157.284, eedf
| communication.collectives[].best_bus_gb_per_s: 1 numbers, sum 209.712, cbd0

$ here=$PWD; cd $DATA && ../cli/figures.py 'kernels --by op' $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| n_rows: 20 numbers, sum 161, 0ebc
| rows[].name: 161 texts, 5369
| rows[].short_name: 161 texts, f2ab
| rows[].kind: 161 texts, 812f
| rows[].family: 161 texts, 9ded
| rows[].calls: 161 numbers, sum 4541, 7d44
| rows[].graph_calls: 161 numbers, sum 140, 6c3b
| rows[].total_us: 161 numbers, sum 323244, 2fee
| rows[].share_pct: 161 numbers, sum 1700, c804
| rows[].mean_us: 161 numbers, sum 14765.3, fbce
| rows[].min_us: 161 numbers, sum 14129.8, 44cf
| rows[].median_us: 161 numbers, sum 14977.7, 65c2
| rows[].p95_us: 161 numbers, sum 15160.6, 4153
| rows[].max_us: 161 numbers, sum 15167.7, be36
| rows[].occupancy_pct: 129 numbers, sum 3288.33, 9dbd
| rows[].occupancy_source: 129 texts, ff9a
| rows[].limiter: 106 texts, ac2b
| rows[].registers: 134 numbers, sum 6159, c1be
| rows[].shared_bytes: 134 numbers, sum 1.55807e+06, 3269
| rows[].grid[]: 402 numbers, sum 4.60833e+06, 0dc2
| rows[].block[]: 402 numbers, sum 27859, a9f4
| rows[].configs: 134 numbers, sum 144, f52b
| rows[].bytes: 109 numbers, sum 5.72411e+11, 601d
| rows[].gb_per_s: 109 numbers, sum 111471, 907a
| rows[].flops: 7 numbers, sum 2.47391e+12, 3102
| rows[].tflop_per_s: 7 numbers, sum 82.39, 0360
| rows[].precision: 7 texts, 18bb
| rows[].work_from: 161 texts, 1084
| rows[].roof_us: 93 numbers, sum 161495, cbb3
| rows[].of_roof_pct: 93 numbers, sum 7173.02, e536
| rows[].headroom_us: 93 numbers, sum 43342, 3c19
| rows[].op: 161 texts, 9fcf
| rows[].ops: 161 numbers, sum 161, 75f8
| totals.work_us: 20 numbers, sum 323244, bad7
| totals.kernels: 20 numbers, sum 4220, 698a
| totals.copies: 20 numbers, sum 76, 9d4c
| totals.memsets: 20 numbers, sum 245, 2fe8
| totals.replayed_us: 20 numbers, sum 289.919, cd87
| totals.captured_us: 20 numbers, sum 206.239, 6399
| communication: 0 texts, b2a1
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4
| rows[].captured.op: 1 texts, 79a4
| rows[].captured.module: 0 texts, fbb3
| rows[].captured.source: 0 texts, fbb3
| communication.device: 1 numbers, sum 0, 03f9
| communication.recorded_us: 1 numbers, sum 5839.12, 3d4d
| communication.compute_us: 1 numbers, sum 5350.1, 4d5c
| communication.copy_us: 1 numbers, sum 0, 8136
| communication.comm_us: 1 numbers, sum 900.015, 2830
| communication.exposed_us: 1 numbers, sum 300.005, 5ecf
| communication.exposed_pct: 1 numbers, sum 5.138, 30f7
| communication.overlap_pct: 1 numbers, sum 66.667, 6666
| communication.groups[].group: 1 texts, e08b
| communication.groups[].group_description: 1 texts, 432c
| communication.groups[].group_size: 1 numbers, sum 4, c6fd
| communication.groups[].calls: 1 numbers, sum 10, c3a2
| communication.groups[].time_us: 1 numbers, sum 900.015, 2830
| communication.groups[].exposed_us: 1 numbers, sum 300.005, 5ecf
| communication.collectives[].name: 1 texts, d4db
| communication.collectives[].kernel: 1 texts, a449
| communication.collectives[].group: 1 texts, e08b
| communication.collectives[].group_description: 1 texts, 432c
| communication.collectives[].group_size: 1 numbers, sum 4, c6fd
| communication.collectives[].calls: 1 numbers, sum 10, c3a2
| communication.collectives[].time_us: 1 numbers, sum 900.015, 2830
| communication.collectives[].exposed_us: 1 numbers, sum 300.005, 5ecf
| communication.collectives[].overlap_pct: 1 numbers, sum 66.667, 6666
| communication.collectives[].min_us: 1 numbers, sum 60.001, 0193
| communication.collectives[].median_us: 1 numbers, sum 90.001, 717a
| communication.collectives[].max_us: 1 numbers, sum 120.002, de5c
| communication.collectives[].bytes: 1 numbers, sum 1.04858e+08, df35
| communication.collectives[].algo_gb_per_s: 1 numbers, sum 104.856, a263
| communication.collectives[].bus_gb_per_s: 1 numbers, sum 157.284, eedf
| communication.collectives[].best_bus_gb_per_s: 1 numbers, sum 209.712, cbd0

$ here=$PWD; cd $DATA && ../cli/figures.py memory $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| recorded: 6 of 20 true, 05c5
| stages[].path: 52 texts, 75a4
| stages[].peak_bytes: 11 numbers, sum 4.82567e+08, 6f9f
| stages[].allocations: 52 numbers, sum 194, bf78
| stages[].alloc_bytes: 52 numbers, sum 3.8826e+07, f141
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4
| driver_calls[].call: 6 texts, eaa0
| driver_calls[].count: 6 numbers, sum 19, c558
| driver_calls[].in_steps: 6 numbers, sum 2, 49cd
| driver_calls[].total_us: 6 numbers, sum 3054.94, b8ba
| driver_calls[].in_steps_us: 6 numbers, sum 304.245, f4ff
| devices[].device: 9 texts, faa2
| devices[].device_id: 9 numbers, sum -5, e558
| devices[].relative: 0 of 9 true, 2d55
| devices[].begin_bytes: 9 numbers, sum 1.01712e+08, 2b46
| devices[].end_bytes: 9 numbers, sum 1.35283e+08, 1a86
| devices[].peak_bytes: 9 numbers, sum 1.37976e+08, ee8c
| devices[].peak_at_us: 9 numbers, sum 66654, 74d4
| devices[].peak_stage: 8 texts, eee2
| devices[].reserved_bytes: 9 numbers, sum 1.48898e+08, e49c
| devices[].unused_bytes: 9 numbers, sum 1.36233e+07, c6bc
| devices[].growth.judged: 3 of 9 true, e63f
| devices[].growth.grows: 0 of 9 true, 2d55
| devices[].growth.steps: 9 numbers, sum 9, 4940
| devices[].growth.rises: 9 numbers, sum 0, 0ccd
| devices[].growth.per_step_bytes: 9 numbers, sum 0, 0ccd
| devices[].growth.total_bytes: 9 numbers, sum 0, 0ccd
| devices[].steps[].index: 15 numbers, sum 12, 79f7
| devices[].steps[].end_bytes: 15 numbers, sum 3.40844e+08, 97bb
| devices[].steps[].peak_bytes: 15 numbers, sum 3.4353e+08, dfd6
| devices[].steps[].allocations: 15 numbers, sum 427, 3fae
| devices[].steps[].alloc_bytes: 15 numbers, sum 3.77921e+07, a887
| sites[].op: 20 texts, d25d
| sites[].source.file: 1 texts, 07a9
| sites[].source.line: 1 numbers, sum 12, a120
| sites[].source.function: 1 texts, b4cd
| sites[].count: 20 numbers, sum 142, 6cf9
| sites[].bytes: 20 numbers, sum 3.77324e+07, c262
| sites[].largest_bytes: 20 numbers, sum 3.43245e+07, 0412
| sites[].kept_bytes: 20 numbers, sum 3.35626e+07, 8933
| sites[].source: 0 texts, b2a1

$ here=$PWD; cd $DATA && ../cli/figures.py launches $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| devices[].device: 17 numbers, sum 0, ffdc
| devices[].start_us: 17 numbers, sum 40882.5, 8bd9
| devices[].window_us: 17 numbers, sum 451239, 8260
| devices[].ahead: 17 texts, 9057
| devices[].mean_depth: 17 numbers, sum 216.019, a53e
| devices[].median_depth: 17 numbers, sum 208, 6350
| devices[].p95_depth: 17 numbers, sum 435, 499d
| devices[].max_depth: 17 numbers, sum 508, 046a
| devices[].empty_pct: 17 numbers, sum 952.962, 3e7e
| devices[].at_most_2_pct: 17 numbers, sum 1265.29, 09c9
| devices[].starved_pct: 17 numbers, sum 817.405, 1b4b
| devices[].mean_depth_over_time[]: 1020 numbers, sum 12961.1, 1c7f
| all.launches: 20 numbers, sum 4104, 3a41
| all.graph_launches: 20 numbers, sum 24, a1be
| all.kernels: 20 numbers, sum 4220, 698a
| all.kernels_by_wait.idle_stream: 20 numbers, sum 2619, d105
| all.kernels_by_wait.queued: 20 numbers, sum 1482, 2e39
| all.kernels_by_wait.behind_other_streams: 20 numbers, sum 0, 142f
| all.kernels_by_wait.in_graph: 20 numbers, sum 116, d9ea
| all.kernels_by_wait.overhead: 20 numbers, sum 3, 83d5
| all.kernels_by_wait.before_launch: 20 numbers, sum 0, 142f
| all.kernels_by_wait.no_launch: 20 numbers, sum 0, 142f
| all.latency_from_call_start.count: 20 numbers, sum 2619, d105
| all.latency_from_call_start.total_us: 20 numbers, sum 30842.1, fc92
| all.latency_from_call_start.median_us: 20 numbers, sum 1006.28, 253b
| all.latency_from_call_start.p95_us: 20 numbers, sum 1673.27, c6e5
| all.latency_from_call_start.max_us: 20 numbers, sum 2769.76, fd24
| all.latency_from_call_end.count: 20 numbers, sum 2619, d105
| all.latency_from_call_end.total_us: 20 numbers, sum 7763.97, 9c0c
| all.latency_from_call_end.median_us: 20 numbers, sum 359.308, 9813
| all.latency_from_call_end.p95_us: 20 numbers, sum 706, d0a2
| all.latency_from_call_end.max_us: 20 numbers, sum 713.027, a238
| all.queue_wait.count: 20 numbers, sum 1482, 2e39
| all.queue_wait.total_us: 20 numbers, sum 2.09136e+07, 15b8
| all.queue_wait.median_us: 20 numbers, sum 96256.4, 44f8
| all.queue_wait.p95_us: 20 numbers, sum 181932, cf2b
| all.queue_wait.max_us: 20 numbers, sum 194354, 6d50
| all.back_to_back_gap.count: 20 numbers, sum 1482, 2e39
| all.back_to_back_gap.total_us: 20 numbers, sum 3657.48, 0c53
| all.back_to_back_gap.median_us: 20 numbers, sum 10.695, ebab
| all.back_to_back_gap.p95_us: 20 numbers, sum 195.445, c2f2
| all.back_to_back_gap.max_us: 20 numbers, sum 200.149, ad31
| all.kernel.count: 20 numbers, sum 4220, 698a
| all.kernel.total_us: 20 numbers, sum 322145, fb77
| all.kernel.median_us: 20 numbers, sum 1241.48, 3c57
| all.kernel.p95_us: 20 numbers, sum 4327, 939e
| all.kernel.max_us: 20 numbers, sum 4367.19, 1035
| all.launch_interval.count: 20 numbers, sum 4082, a8c0
| all.launch_interval.total_us: 20 numbers, sum 292925, 8380
| all.launch_interval.median_us: 20 numbers, sum 1625.44, e0e7
| all.launch_interval.p95_us: 20 numbers, sum 12492.2, 13b0
| all.launch_interval.max_us: 20 numbers, sum 52149.3, 64f4
| all.median_depth_at_launch: 20 numbers, sum 203, 0d9b
| all.launch_bound: 8 of 20 true, f770
| stages[].path: 52 texts, 75a4
| stages[].launches: 52 numbers, sum 6518, 5313
| stages[].graph_launches: 52 numbers, sum 4, f098
| stages[].kernels: 52 numbers, sum 6554, a343
| stages[].kernels_by_wait.idle_stream: 52 numbers, sum 2859, a722
| stages[].kernels_by_wait.queued: 52 numbers, sum 3657, 7db9
| stages[].kernels_by_wait.behind_other_streams: 52 numbers, sum 0, 8ead
| stages[].kernels_by_wait.in_graph: 52 numbers, sum 36, ece8
| stages[].kernels_by_wait.overhead: 52 numbers, sum 2, 7b07
| stages[].kernels_by_wait.before_launch: 52 numbers, sum 0, 8ead
| stages[].kernels_by_wait.no_launch: 52 numbers, sum 0, 8ead
| stages[].latency_from_call_start.count: 52 numbers, sum 2859, a722
| stages[].latency_from_call_start.total_us: 52 numbers, sum 36243.5, 3f56
| stages[].latency_from_call_start.median_us: 52 numbers, sum 1251.92, 6bb5
| stages[].latency_from_call_start.p95_us: 52 numbers, sum 2451, b7fa
| stages[].latency_from_call_start.max_us: 52 numbers, sum 5015.45, 2702
| stages[].latency_from_call_end.count: 52 numbers, sum 2859, a722
| stages[].latency_from_call_end.total_us: 52 numbers, sum 7983.2, d7e9
| stages[].latency_from_call_end.median_us: 52 numbers, sum 378.019, 2425
| stages[].latency_from_call_end.p95_us: 52 numbers, sum 729.901, ae80
| stages[].latency_from_call_end.max_us: 52 numbers, sum 741.348, 7ce7
| stages[].queue_wait.count: 52 numbers, sum 3657, 7db9
| stages[].queue_wait.total_us: 52 numbers, sum 2.95003e+07, 703e
| stages[].queue_wait.median_us: 52 numbers, sum 117663, 68a3
| stages[].queue_wait.p95_us: 52 numbers, sum 219260, 4e32
| stages[].queue_wait.max_us: 52 numbers, sum 235040, 8b3f
| stages[].back_to_back_gap.count: 52 numbers, sum 3657, 7db9
| stages[].back_to_back_gap.total_us: 52 numbers, sum 7264.73, 18dd
| stages[].back_to_back_gap.median_us: 52 numbers, sum 16.646, 2632
| stages[].back_to_back_gap.p95_us: 52 numbers, sum 205.172, 3653
| stages[].back_to_back_gap.max_us: 52 numbers, sum 214.964, 5944
| stages[].kernel.count: 52 numbers, sum 6554, a343
| stages[].kernel.total_us: 52 numbers, sum 558940, 4b82
| stages[].kernel.median_us: 52 numbers, sum 1517.29, f3a4
| stages[].kernel.p95_us: 52 numbers, sum 5399.25, 5fcc
| stages[].kernel.max_us: 52 numbers, sum 5464.27, 447b
| stages[].launch_interval.count: 52 numbers, sum 6482, a78d
| stages[].launch_interval.total_us: 52 numbers, sum 731649, 8575
| stages[].launch_interval.median_us: 52 numbers, sum 2588.79, 9964
| stages[].launch_interval.p95_us: 52 numbers, sum 26858, 80fc
| stages[].launch_interval.max_us: 52 numbers, sum 139891, 781f
| stages[].median_depth_at_launch: 52 numbers, sum 308, 8a8d
| stages[].launch_bound: 15 of 52 true, b999
| calls[].name: 47 texts, 0aad
| calls[].device_records: 47 numbers, sum 4541, 47f4
| calls[].cost.count: 47 numbers, sum 4430, 5efa
| calls[].cost.total_us: 47 numbers, sum 36721.6, 6903
| calls[].cost.median_us: 47 numbers, sum 661.467, a05b
| calls[].cost.p95_us: 47 numbers, sum 2351.57, ed81
| calls[].cost.max_us: 47 numbers, sum 4035.01, 365f
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4

$ here=$PWD; cd $DATA && ../cli/figures.py stages $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| steps_cpu_us: 20 numbers, sum 231520, fb99
| steps_gpu_us: 20 numbers, sum 312324, 1fb3
| stages[].name: 52 texts, 5b20
| stages[].path: 52 texts, 75a4
| stages[].kind: 52 texts, cc51
| stages[].derived: 17 of 52 true, 5550
| stages[].from: 52 texts, a32c
| stages[].container: 6 of 52 true, 24af
| stages[].count: 52 numbers, sum 497, 15af
| stages[].cpu_us: 52 numbers, sum 610511, 56e9
| stages[].self_cpu_us: 52 numbers, sum 296533, c8c0
| stages[].blocked_us: 52 numbers, sum 216363, 2656
| stages[].gpu_us: 52 numbers, sum 559780, 180c
| stages[].gpu_busy_us: 52 numbers, sum 559179, 48b4
| stages[].gpu_span_us: 52 numbers, sum 673890, 16c2
| stages[].idle_us: 52 numbers, sum 114648, 94ee
| stages[].kernels: 52 numbers, sum 6554, a343
| stages[].copies: 52 numbers, sum 86, 5b77
| stages[].memsets: 52 numbers, sum 720, 66a1
| stages[].copy_bytes: 52 numbers, sum 1.01458e+08, 9119
| stages[].self_gpu_us: 52 numbers, sum 322172, b272
| stages[].idle_meanwhile_us: 52 numbers, sum 165993, fea2
| stages[].launches: 52 numbers, sum 7324, 95ee
| stages[].graph_launches: 52 numbers, sum 4, f098
| stages[].syncs: 52 numbers, sum 85, e242
| stages[].allocations: 52 numbers, sum 194, bf78
| stages[].alloc_bytes: 52 numbers, sum 3.8826e+07, f141
| stages[].device_allocs: 52 numbers, sum 6, 3d94
| stages[].first_us: 52 numbers, sum 316201, e0b3
| stages[].median_us: 52 numbers, sum 286426, 181a
| stages[].p95_us: 52 numbers, sum 317431, d504
| stages[].gpu_first_us: 52 numbers, sum 223637, 0139
| stages[].gpu_median_us: 52 numbers, sum 224852, 0a9b
| stages[].gpu_p95_us: 52 numbers, sum 226206, 6159
| stages[].step_cpu_pct: 46 numbers, sum 2140.72, ffb5
| stages[].step_gpu_pct: 46 numbers, sum 1766.15, 15d1
| stages[].peak_bytes: 11 numbers, sum 4.82567e+08, 6f9f
| between.cpu_us: 20 numbers, sum 8744.23, d8c0
| between.blocked_us: 20 numbers, sum 100.746, 98bd
| between.untraced_us: 20 numbers, sum 8052.55, 41cd
| between.gpu_us: 20 numbers, sum 3.328, 8bd1
| between.gpu_busy_us: 20 numbers, sum 3.328, 8bd1
| between.gpu_span_us: 20 numbers, sum 3.328, 8bd1
| between.idle_us: 20 numbers, sum 0, c2a7
| between.kernels: 20 numbers, sum 0, 142f
| between.copies: 20 numbers, sum 2, 79fb
| between.memsets: 20 numbers, sum 0, 142f
| between.copy_bytes: 20 numbers, sum 8, a53e
| between.idle_meanwhile_us: 20 numbers, sum 7160.32, f625
| between.launches: 20 numbers, sum 2, 79fb
| between.syncs: 20 numbers, sum 4, 610a
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4
| between.top[].name: 23 texts, 744a
| between.top[].self_us: 23 numbers, sum 637.472, 86d7
| between.top[].calls: 23 numbers, sum 83, ea8d

$ here=$PWD; cd $DATA && ../cli/figures.py steps $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| found_by: 20 texts, 87dd
| items_per_step: 20 numbers, sum 22, 5e20
| median_us: 20 numbers, sum 48707.4, 0335
| median_launches: 20 numbers, sum 436, f239
| levels[].role: 25 texts, ffa8
| levels[].name: 17 texts, 16c5
| levels[].count: 25 numbers, sum 680, d1f3
| levels[].per_outer: 25 numbers, sum 416, 4033
| levels[].median_us: 25 numbers, sum 199850, f9b9
| levels[].found_by: 25 texts, 46d6
| steps[].index: 376 numbers, sum 45212, ad1a
| steps[].start_us: 376 numbers, sum 2.90302e+06, 9ffa
| steps[].dur_us: 376 numbers, sum 231520, 7570
| steps[].cpu_us: 376 numbers, sum 230077, 7e60
| steps[].blocked_us: 376 numbers, sum 75748.6, af19
| steps[].profiler_us: 376 numbers, sum 14525, 49e4
| steps[].gpu_us: 376 numbers, sum 312324, df0e
| steps[].gpu_busy_us: 376 numbers, sum 311724, 0630
| steps[].gpu_start_us: 372 numbers, sum 3.121e+06, 30d9
| steps[].gpu_span_us: 376 numbers, sum 361292, 6089
| steps[].gpu_idle_us: 376 numbers, sum 49567.7, b7c5
| steps[].comm_us: 376 numbers, sum 900.015, 1235
| steps[].exposed_comm_us: 376 numbers, sum 300.005, bd6c
| steps[].kernels: 376 numbers, sum 2511, 5c94
| steps[].copies: 376 numbers, sum 36, e6a3
| steps[].memsets: 376 numbers, sum 244, 88c1
| steps[].copy_bytes: 376 numbers, sum 1.01458e+08, 62ec
| steps[].launches: 376 numbers, sum 2764, 3392
| steps[].syncs: 376 numbers, sum 31, 7207
| steps[].flags[]: 17 texts, 03ab
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4
| steps[].name: 65 texts, f655
| steps[].number: 36 numbers, sum 232, d3a3
| dead_windows[].label: 1 texts, 257d
| dead_windows[].first_op: 1 texts, a6c6
| dead_windows[].start_us: 1 numbers, sum 34.082, 6e59
| dead_windows[].dead_us: 1 numbers, sum 26.356, 3d5f
| dead_windows[].usual_us: 1 numbers, sum 6.81, 526f
| dead_windows[].step: 1 numbers, sum 0, 03f9

$ here=$PWD; cd $DATA && ../cli/figures.py table $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| by: 20 texts, 6596
| n_rows: 20 numbers, sum 776, f634
| rows[].name: 776 texts, 3b0c
| rows[].device: 776 texts, c496
| rows[].is_annotation: 61 of 776 true, dbd4
| rows[].calls: 776 numbers, sum 23088, 6893
| rows[].self_cpu_us: 776 numbers, sum 545697, 8163
| rows[].self_cpu_pct: 776 numbers, sum 2000, 0dbd
| rows[].cpu_total_us: 776 numbers, sum 1.42038e+06, a61a
| rows[].cpu_total_pct: 776 numbers, sum 4822.43, 1cf0
| rows[].cpu_avg_us: 776 numbers, sum 503763, b66a
| rows[].self_device_us: 776 numbers, sum 822173, 2a0e
| rows[].self_device_pct: 635 numbers, sum 24883.1, c7f5
| rows[].device_total_us: 776 numbers, sum 1.81917e+06, 42c4
| rows[].device_avg_us: 776 numbers, sum 295759, c8e0
| rows[].cpu_mem_bytes: 776 numbers, sum 154336, 8ec0
| rows[].self_cpu_mem_bytes: 776 numbers, sum 0, d09a
| rows[].device_mem_bytes: 776 numbers, sum 1.09195e+08, 23f4
| rows[].self_device_mem_bytes: 776 numbers, sum 3.40152e+07, 55d7
| rows[].flops: 776 numbers, sum 2.49768e+12, 765b
| totals.self_cpu_us: 20 numbers, sum 545697, 6df8
| totals.self_device_us: 20 numbers, sum 323308, 4aa8
| n_unfinished: 20 numbers, sum 0, 142f
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4

$ here=$PWD; cd $DATA && ../cli/figures.py 'table --by shape' $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| by: 20 texts, f092
| n_rows: 20 numbers, sum 966, 8f3f
| rows[].name: 966 texts, 7f82
| rows[].device: 966 texts, 6562
| rows[].is_annotation: 61 of 966 true, a654
| rows[].input_shapes[][]: 799 numbers, sum 364749, 7bf4
| rows[].calls: 966 numbers, sum 23088, 6b66
| rows[].self_cpu_us: 966 numbers, sum 545697, 27b5
| rows[].self_cpu_pct: 966 numbers, sum 2000, 7844
| rows[].cpu_total_us: 966 numbers, sum 1.42038e+06, 5918
| rows[].cpu_total_pct: 966 numbers, sum 4822.43, de50
| rows[].cpu_avg_us: 966 numbers, sum 515837, 2c0a
| rows[].self_device_us: 966 numbers, sum 822173, 64c8
| rows[].self_device_pct: 715 numbers, sum 24883.1, f91d
| rows[].device_total_us: 966 numbers, sum 1.81917e+06, 8f98
| rows[].device_avg_us: 966 numbers, sum 304260, a25b
| rows[].cpu_mem_bytes: 966 numbers, sum 154336, 8df4
| rows[].self_cpu_mem_bytes: 966 numbers, sum 0, 7617
| rows[].device_mem_bytes: 966 numbers, sum 1.09195e+08, 0153
| rows[].self_device_mem_bytes: 966 numbers, sum 3.40152e+07, d584
| rows[].flops: 966 numbers, sum 2.49768e+12, 38b4
| totals.self_cpu_us: 20 numbers, sum 545697, 6df8
| totals.self_device_us: 20 numbers, sum 323308, 4aa8
| n_unfinished: 20 numbers, sum 0, 142f
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4

$ here=$PWD; cd $DATA && ../cli/figures.py lint $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| checks[].id: 280 texts, 1c9f
| checks[].severity: 280 texts, 3a45
| checks[].title: 280 texts, d30c
| checks[].explain: 280 texts, 076d
| checks[].count: 280 numbers, sum 29, d8b2
| checks[].of: 280 numbers, sum 122415, acd8
| checks[].worst_us: 280 numbers, sum 0, c9b0
| trace_quality.verdict: 20 texts, 405a
| trace_quality.idle_trusted: 20 of 20 true, eb5b
| trace_quality.times_trusted: 20 of 20 true, eb5b
| trace_quality.links_trusted: 20 of 20 true, eb5b
| trace_quality.recording_cost_pct: 20 numbers, sum 281.4, ada7
| trace_quality.python_sample_us: 0 texts, e970
| trace_quality.recording.ops: 20 numbers, sum 12759, 90a8
| trace_quality.recording.calls: 20 numbers, sum 4794, b869
| trace_quality.recording.python_frames: 20 numbers, sum 5019, 3815
| trace_quality.recording.memory_events: 20 numbers, sum 983, 7b28
| trace_quality.recording.cost_us: 20 numbers, sum 31978.5, 866f
| trace_quality.recording.working_us: 20 numbers, sum 266508, 7356
| trace_quality.recorded[]: 20 texts, 3b54
| trace_quality.coverage.launches_expected: 20 numbers, sum 4425, 547d
| trace_quality.coverage.launches_recorded: 20 numbers, sum 4425, 547d
| trace_quality.coverage.pct: 20 numbers, sum 2000, 7af3
| trace_quality.coverage.devices[].device: 17 numbers, sum 0, ffdc
| trace_quality.coverage.devices[].pct: 17 numbers, sum 1700, 5c54
| trace_quality.doubts[].id: 12 texts, 0e27
| trace_quality.doubts[].level: 12 texts, c9e6
| trace_quality.doubts[].count: 12 numbers, sum 0, 4501
| trace_quality.doubts[].of: 0 texts, 94e4
| trace_quality.doubts[].what: 12 texts, a2b5
| trace_quality.doubts[].means: 12 texts, 4218
| trace_quality.doubts[].instead: 12 texts, 3a76
| trace_quality.doubts[].example: 0 texts, 94e4
| trace_quality.doubts[].example_start_us: 0 texts, 94e4
| checks[].examples[].name: 17 texts, f37f
| checks[].examples[].ts_us: 17 numbers, sum 5.01819e+13, 05f4
| checks[].examples[].byte: 17 numbers, sum 1.1501e+07, 43cb

$ here=$PWD; cd $DATA && ../cli/figures.py info $(cat "$here/traces")
| exit status: 20 numbers, sum 0, 142f
| path: 20 texts, f097
| format: 20 texts, 473b
| file_bytes: 20 numbers, sum 738492, fab7
| plain_bytes: 20 numbers, sum 1.32126e+07, 2dd5
| events: 20 numbers, sum 38780, 6691
| versions.cuda_runtime: 16 texts, 431b
| versions.cuda_driver: 16 texts, 431b
| versions.cupti: 15 texts, fe30
| recorder.stacks: 5 of 20 true, a0ef
| recorder.shapes: 7 of 20 true, 7290
| recorder.memory: 7 of 20 true, a569
| recorder.modules: 0 of 20 true, b5e5
| recorder.flops: 1 of 20 true, 556c
| devices[].id: 16 numbers, sum 0, 2862
| devices[].name: 16 texts, a585
| devices[].memory_bytes: 16 numbers, sum 2.40176e+12, 2b60
| devices[].sms: 16 numbers, sum 2112, 32a7
| devices[].compute_major: 16 numbers, sum 144, 51d4
| devices[].compute_minor: 16 numbers, sum 0, 2862
| span_us: 20 numbers, sum 523276, 4b50
| window_us: 19 numbers, sum 530822, f37e
| recorded_at: 19 texts, bc7b
| profiler_steps: 20 numbers, sum 36, 2dbc
| processes: 20 numbers, sum 20, a424
| threads: 20 numbers, sum 26, 7576
| streams: 20 numbers, sum 24, 7855
| flows: 20 numbers, sum 9544, 92e5
| device_work_without_launch: 20 numbers, sum 0, 142f
| external_ids_usable: 20 of 20 true, eb5b
| categories[].name: 168 texts, f701
| categories[].kind: 168 texts, 5fc0
| categories[].events: 168 numbers, sum 29236, fa6a
| lanes[].kind: 136 texts, b563
| lanes[].pid: 79 numbers, sum 64350, 1daa
| lanes[].tid: 79 numbers, sum 9.47983e+08, 006b
| lanes[].name: 136 texts, ac90
| lanes[].events: 136 numbers, sum 29236, 471d
| lanes[].device: 39 numbers, sum 0, 4c84
| lanes[].stream: 39 numbers, sum 418, 7c0b
| damage.total: 20 numbers, sum 0, 142f
| distributed.rank: 1 numbers, sum 2, 617b
| distributed.world_size: 1 numbers, sum 4, c6fd

$ cd $DATA && ../cli/figures.py offload offload/*.json.gz
| exit status: 2 numbers, sum 0, accd
| trace_quality.verdict: 2 texts, c3c5
| trace_quality.idle_trusted: 2 of 2 true, 042a
| trace_quality.times_trusted: 2 of 2 true, 042a
| trace_quality.links_trusted: 2 of 2 true, 042a
| trace_quality.recording_cost_pct: 2 numbers, sum 45.8, c9a1
| trace_quality.python_sample_us: 0 texts, f831
| trace_quality.recording.ops: 2 numbers, sum 43790, b535
| trace_quality.recording.calls: 2 numbers, sum 14020, dfa0
| trace_quality.recording.python_frames: 2 numbers, sum 0, accd
| trace_quality.recording.memory_events: 2 numbers, sum 0, accd
| trace_quality.recording.cost_us: 2 numbers, sum 93725, 137b
| trace_quality.recording.working_us: 2 numbers, sum 4.58128e+06, 6949
| trace_quality.coverage.launches_expected: 2 numbers, sum 7602, cf20
| trace_quality.coverage.launches_recorded: 2 numbers, sum 7602, cf20
| trace_quality.coverage.pct: 2 numbers, sum 200, 994e
| trace_quality.coverage.devices[].device: 2 numbers, sum 0, accd
| trace_quality.coverage.devices[].pct: 2 numbers, sum 200, 994e
| model.bytes: 2 numbers, sum 1.72195e+10, 5338
| model.modules: 2 numbers, sum 456, 3887
| model.passes_per_step: 2 numbers, sum 2, b43c
| model.compute_ms: 2 numbers, sum 44.052, 3b18
| model.compute_from: 2 texts, 1f1d
| model.fixed_ms: 2 numbers, sum 1.471, d1bc
| model.host_memory: 2 texts, 11c2
| model.activation_bytes: 0 texts, f831
| traced.steps: 2 numbers, sum 8, cf09
| traced.steps_are_guess: 0 of 2 true, 82fa
| traced.wall_ms: 2 numbers, sum 5189.54, 8606
| traced.replayed_ms: 2 numbers, sum 5189.54, 8606
| traced.without_profiler_ms: 2 numbers, sum 5055.78, 95af
| traced.first_step_ms: 2 numbers, sum 1265.69, 0668
| traced.step_ms: 2 numbers, sum 1280.71, 4fea
| traced.fastest_step_ms: 2 numbers, sum 1277.9, 967d
| traced.slowest_step_ms: 2 numbers, sum 1359.39, 2413
| traced.first_step_bytes: 2 numbers, sum 1.72195e+10, 5338
| traced.step_bytes: 2 numbers, sum 1.72195e+10, 5338
| traced.copying_ms: 2 numbers, sum 4654.68, 52f1
| traced.overlapped_ms: 2 numbers, sum 0, 6295
| traced.exposed_ms: 2 numbers, sum 4654.68, 52f1
| traced.compute_ms: 2 numbers, sum 176.209, d427
| traced.pageable_to_device.copies: 2 numbers, sum 1824, 86ef
| traced.pageable_to_device.bytes: 2 numbers, sum 3.4439e+10, 5cf0
| traced.pageable_to_device.time_ms: 2 numbers, sum 4028.28, 2be1
| traced.pageable_to_device.gb_per_s: 1 numbers, sum 9.056, c6d5
| traced.pinned_to_device.copies: 2 numbers, sum 1824, 609e
| traced.pinned_to_device.bytes: 2 numbers, sum 3.4439e+10, 6f4c
| traced.pinned_to_device.time_ms: 2 numbers, sum 626.401, 7d56
| traced.to_host.copies: 2 numbers, sum 0, accd
| traced.to_host.bytes: 2 numbers, sum 0, accd
| traced.to_host.time_ms: 2 numbers, sum 0, 6295
| traced.allocator_first_step.device_allocs: 2 numbers, sum 8, cf09
| traced.allocator_first_step.device_frees: 2 numbers, sum 0, accd
| traced.allocator_first_step.host_allocs: 2 numbers, sum 0, accd
| traced.allocator_first_step.time_ms: 2 numbers, sum 0.873, 88e7
| traced.allocator_later_steps.device_allocs: 2 numbers, sum 0, accd
| traced.allocator_later_steps.device_frees: 2 numbers, sum 0, accd
| traced.allocator_later_steps.host_allocs: 2 numbers, sum 0, accd
| traced.allocator_later_steps.time_ms: 2 numbers, sum 0, 6295
| traced.empties_cache: 0 of 2 true, 82fa
| rates.pageable.gb_per_s: 2 numbers, sum 17.056, 3963
| rates.pageable.p10_gb_per_s: 1 numbers, sum 7.265, 82b4
| rates.pageable.p90_gb_per_s: 1 numbers, sum 9.643, 077b
| rates.pageable.from: 2 texts, 9d7c
| rates.pinned.gb_per_s: 2 numbers, sum 110.256, 8574
| rates.pinned.from: 2 texts, 934c
| rates.to_host.gb_per_s: 2 numbers, sum 17.056, 3963
| rates.to_host.from: 2 texts, 19e3
| rates.device_memory.gb_per_s: 2 numbers, sum 6000, 41a6
| rates.device_memory.from: 2 texts, 19e3
| noise_pct: 2 numbers, sum 6.68, f71f
| predictions[].policy: 40 texts, a86d
| predictions[].host_memory: 40 texts, 896c
| predictions[].resident_bytes: 40 numbers, sum 1.45673e+11, 1b38
| predictions[].prefetch_depth: 40 numbers, sum 8, db3c
| predictions[].group: 40 texts, 4a63
| predictions[].steps: 40 numbers, sum 160, 51ac
| predictions[].first_step_ms: 40 numbers, sum 26080.8, fded
| predictions[].step_ms: 40 numbers, sum 13255.6, 2c38
| predictions[].total_ms: 40 numbers, sum 65877.1, bf79
| predictions[].low_ms: 40 numbers, sum 55836.2, 3616
| predictions[].high_ms: 40 numbers, sum 77764.3, 1fce
| predictions[].peak_vram_bytes: 40 numbers, sum 1.48958e+11, f25e
| predictions[].host_ram_bytes: 40 numbers, sum 3.74524e+11, 0fba
| predictions[].gain_pct: 40 numbers, sum -1239.01, a2de
| predictions[].break_even_steps: 30 numbers, sum 82, 6b00
| predictions[].rate_from: 40 texts, 63ed
| predictions[].verdict: 40 texts, 3866
| predictions[].weight_bits: 4 numbers, sum 24, 830f
| ceiling.total_ms: 2 numbers, sum 1379.28, a191
| ceiling.gain_pct: 2 numbers, sum 138.48, 141c
| ceiling.gain_many_steps_pct: 2 numbers, sum 184.58, bafd
| target_gain_pct: 2 numbers, sum 20, 6bdc
| break_even_steps: 2 numbers, sum 4, 9d2f
| verdict: 2 texts, 6e96
| curve[].resident_bytes: 18 numbers, sum 7.74877e+10, f852
| curve[].pageable_total_ms: 18 numbers, sum 50039.8, 3006
| curve[].pinned_total_ms: 18 numbers, sum 8882.15, 6dc8
| advice[]: 5 texts, 10ed
| traced.pinned_to_device.gb_per_s: 1 numbers, sum 55.256, 161a
| rates.pinned.p10_gb_per_s: 1 numbers, sum 54.91, c682
| rates.pinned.p90_gb_per_s: 1 numbers, sum 55.449, 3f3e

# Two traces.

$ cd $DATA && ../cli/figures.py 'diff whatif/pingpong_v0.json.gz' whatif/pingpong_v1.json.gz whatif/gpubound_v0.json.gz
| exit status: 2 numbers, sum 0, accd
| wall.before_us: 2 numbers, sum 81921.7, f24f
| wall.after_us: 2 numbers, sum 138637, 0c43
| wall.change_pct: 2 numbers, sum 138.461, c7fe
| wall_without_profiler.before_us: 2 numbers, sum 76284.9, 5804
| wall_without_profiler.after_us: 2 numbers, sum 130627, a562
| wall_without_profiler.change_pct: 2 numbers, sum 142.471, a5ce
| statistics.runs_before: 2 numbers, sum 2, b43c
| statistics.runs_after: 2 numbers, sum 2, b43c
| statistics.mean_before_us: 2 numbers, sum 81921.7, f24f
| statistics.mean_after_us: 2 numbers, sum 138637, 0c43
| statistics.change_pct: 2 numbers, sum 138.461, c7fe
| statistics.low_pct: 0 texts, f831
| statistics.high_pct: 0 texts, f831
| statistics.verdict: 2 texts, 022b
| step.before_us: 2 numbers, sum 5133.25, 7388
| step.after_us: 2 numbers, sum 19729, e568
| step.change_pct: 2 numbers, sum 568.674, a80f
| steps_before: 2 numbers, sum 32, 240f
| steps_after: 2 numbers, sum 22, 1147
| parts[].kind: 69 texts, ee4b
| parts[].name: 69 texts, 1694
| parts[].before_us: 69 numbers, sum 81921.7, 8ebd
| parts[].after_us: 69 numbers, sum 138637, 8ecb
| parts[].change_us: 69 numbers, sum 56714.9, 871b
| stages[].path: 10 texts, 7663
| stages[].derived: 0 of 10 true, 6a8d
| stages[].before.count: 10 numbers, sum 130, 3cd1
| stages[].before.cpu_us: 10 numbers, sum 241858, 4adb
| stages[].before.gpu_us: 10 numbers, sum 119153, a572
| stages[].before.idle_us: 10 numbers, sum 110894, 6cab
| stages[].before.median_us: 10 numbers, sum 91956.1, 7bfa
| stages[].before.kernels: 10 numbers, sum 2784, 975e
| stages[].before.syncs: 10 numbers, sum 98, bd5a
| stages[].after.count: 10 numbers, sum 90, 8fe6
| stages[].after.cpu_us: 10 numbers, sum 413704, 91c3
| stages[].after.gpu_us: 10 numbers, sum 355511, e6ce
| stages[].after.idle_us: 10 numbers, sum 48676.4, 2f81
| stages[].after.median_us: 10 numbers, sum 177572, ae73
| stages[].after.kernels: 10 numbers, sum 3642, f846
| stages[].after.syncs: 10 numbers, sum 20, 0c69
| labels_lost: 0 of 2 true, 82fa
| kernels_known: 2 of 2 true, 042a
| syncs_known: 2 of 2 true, 042a
| kernels.before: 2 numbers, sum 928, 9d8f
| kernels.after: 2 numbers, sum 1214, 493c
| kernels.per_step_before: 2 numbers, sum 58, 134d
| kernels.per_step_after: 2 numbers, sum 154, e94b
| kernels.fused_before: 2 numbers, sum 0, accd
| kernels.fused_after: 2 numbers, sum 0, accd
| kernels.in_graphs_before: 2 numbers, sum 0, accd
| kernels.in_graphs_after: 2 numbers, sum 0, accd
| kernels.launches_before: 2 numbers, sum 992, bbb5
| kernels.launches_after: 2 numbers, sum 1458, 5648
| kernels.new_names: 2 numbers, sum 2, ce4f
| kernels.gone_names: 2 numbers, sum 0, accd
| kernels.mechanism: 2 texts, f3b0
| kernels.families[].family: 10 texts, 1182
| kernels.families[].before: 10 numbers, sum 928, 22e2
| kernels.families[].after: 10 numbers, sum 1214, bd40
| kernels.families[].before_us: 10 numbers, sum 39641.3, 2c5d
| kernels.families[].after_us: 10 numbers, sum 118280, 1e5b
| syncs.removed[].what: 1 texts, e5e8
| syncs.removed[].kind: 1 texts, b00f
| syncs.removed[].file: 1 texts, ae58
| syncs.removed[].line: 1 numbers, sum 0, 03f9
| syncs.removed[].function: 1 texts, ae58
| syncs.removed[].count: 1 numbers, sum 16, 6424
| syncs.removed[].blocked_us: 1 numbers, sum 463.32, 6da2
| syncs.removed[].exposed_us: 1 numbers, sum 760.792, f0fe
| syncs.in_loop_before: 2 numbers, sum 32, 240f
| syncs.in_loop_after: 2 numbers, sum 6, 0b4b
| trace_quality.before.verdict: 2 texts, c3c5
| trace_quality.before.idle_trusted: 2 of 2 true, 042a
| trace_quality.before.times_trusted: 2 of 2 true, 042a
| trace_quality.before.links_trusted: 2 of 2 true, 042a
| trace_quality.before.recording_cost_pct: 2 numbers, sum 20, 6bdc
| trace_quality.before.python_sample_us: 0 texts, f831
| trace_quality.before.recording.ops: 2 numbers, sum 3554, bb17
| trace_quality.before.recording.calls: 2 numbers, sum 1028, f135
| trace_quality.before.recording.python_frames: 2 numbers, sum 0, accd
| trace_quality.before.recording.memory_events: 2 numbers, sum 0, accd
| trace_quality.before.recording.cost_us: 2 numbers, sum 7387, c38b
| trace_quality.before.recording.working_us: 2 numbers, sum 80990, daba
| trace_quality.before.coverage.launches_expected: 2 numbers, sum 992, bbb5
| trace_quality.before.coverage.launches_recorded: 2 numbers, sum 992, bbb5
| trace_quality.before.coverage.pct: 2 numbers, sum 200, 994e
| trace_quality.before.coverage.devices[].device: 2 numbers, sum 0, accd
| trace_quality.before.coverage.devices[].pct: 2 numbers, sum 200, 994e
| trace_quality.before.doubts[].id: 2 texts, 687b
| trace_quality.before.doubts[].level: 2 texts, c3c5
| trace_quality.before.doubts[].count: 2 numbers, sum 0, accd
| trace_quality.before.doubts[].of: 0 texts, f831
| trace_quality.before.doubts[].what: 2 texts, 975a
| trace_quality.before.doubts[].means: 2 texts, 6211
| trace_quality.before.doubts[].instead: 2 texts, 28ad
| trace_quality.before.doubts[].example: 0 texts, f831
| trace_quality.before.doubts[].example_start_us: 0 texts, f831
| trace_quality.after.verdict: 2 texts, c3c5
| trace_quality.after.idle_trusted: 2 of 2 true, 042a
| trace_quality.after.times_trusted: 2 of 2 true, 042a
| trace_quality.after.links_trusted: 2 of 2 true, 042a
| trace_quality.after.recording_cost_pct: 2 numbers, sum 49.4, 8365
| trace_quality.after.python_sample_us: 0 texts, f831
| trace_quality.after.recording.ops: 2 numbers, sum 6588, 64d4
| trace_quality.after.recording.calls: 2 numbers, sum 1684, 946e
| trace_quality.after.recording.python_frames: 2 numbers, sum 0, accd
| trace_quality.after.recording.memory_events: 2 numbers, sum 0, accd
| trace_quality.after.recording.cost_us: 2 numbers, sum 13250, eed4
| trace_quality.after.recording.working_us: 2 numbers, sum 68764.9, 0591
| trace_quality.after.coverage.launches_expected: 2 numbers, sum 1458, 5648
| trace_quality.after.coverage.launches_recorded: 2 numbers, sum 1458, 5648
| trace_quality.after.coverage.pct: 2 numbers, sum 200, 994e
| trace_quality.after.coverage.devices[].device: 2 numbers, sum 0, accd
| trace_quality.after.coverage.devices[].pct: 2 numbers, sum 200, 994e
| trace_quality.after.doubts[].id: 1 texts, 7a54
| trace_quality.after.doubts[].level: 1 texts, 28f2
| trace_quality.after.doubts[].count: 1 numbers, sum 0, 03f9
| trace_quality.after.doubts[].of: 0 texts, fbb3
| trace_quality.after.doubts[].what: 1 texts, 041f
| trace_quality.after.doubts[].means: 1 texts, c62d
| trace_quality.after.doubts[].instead: 1 texts, ae58
| trace_quality.after.doubts[].example: 0 texts, fbb3
| trace_quality.after.doubts[].example_start_us: 0 texts, fbb3

$ cd $DATA && ../cli/figures.py 'diff torch/gpu_training.json.gz' torch/gpu_stack.json.gz matmul_add/4096_bf16_warm_compile.json.gz
| exit status: 2 numbers, sum 0, accd
| wall.before_us: 2 numbers, sum 60639.6, f75d
| wall.after_us: 2 numbers, sum 23453.9, 4825
| wall.change_pct: 2 numbers, sum -122.644, 238b
| wall_without_profiler.before_us: 2 numbers, sum 45071.8, 8cc7
| wall_without_profiler.after_us: 2 numbers, sum 16277.1, ef9c
| wall_without_profiler.change_pct: 2 numbers, sum -127.773, 8d2e
| statistics.runs_before: 2 numbers, sum 2, b43c
| statistics.runs_after: 2 numbers, sum 2, b43c
| statistics.mean_before_us: 2 numbers, sum 60639.6, f75d
| statistics.mean_after_us: 2 numbers, sum 23453.9, 4825
| statistics.change_pct: 2 numbers, sum -122.644, 238b
| statistics.low_pct: 0 texts, f831
| statistics.high_pct: 0 texts, f831
| statistics.verdict: 2 texts, 022b
| step.before_us: 2 numbers, sum 23890, bdd5
| step.after_us: 2 numbers, sum 7713.07, db0a
| step.change_pct: 2 numbers, sum -135.429, e69e
| steps_before: 2 numbers, sum 4, 9d2f
| steps_after: 2 numbers, sum 5, ac6e
| parts[].kind: 198 texts, 5744
| parts[].name: 198 texts, aa96
| parts[].before_us: 198 numbers, sum 60639.6, dc91
| parts[].after_us: 198 numbers, sum 23453.9, 3c1a
| parts[].change_us: 198 numbers, sum -37185.6, 591a
| stages[].path: 11 texts, 4773
| stages[].derived: 0 of 11 true, d490
| stages[].before.count: 10 numbers, sum 20, 953e
| stages[].before.cpu_us: 10 numbers, sum 54444.1, e66d
| stages[].before.gpu_us: 10 numbers, sum 564.864, 60bd
| stages[].before.idle_us: 10 numbers, sum 53879.3, 546f
| stages[].before.median_us: 10 numbers, sum 27222.1, d607
| stages[].before.kernels: 10 numbers, sum 308, 1cf0
| stages[].before.syncs: 10 numbers, sum 0, 1248
| stages[].after.count: 6 numbers, sum 13, f0d8
| stages[].after.cpu_us: 6 numbers, sum 20249, 1706
| stages[].after.gpu_us: 6 numbers, sum 869.189, 0895
| stages[].after.idle_us: 6 numbers, sum 19267.5, 07cf
| stages[].after.median_us: 6 numbers, sum 9902.01, a0e0
| stages[].after.kernels: 6 numbers, sum 157, f908
| stages[].after.syncs: 6 numbers, sum 0, 1aad
| labels_lost: 0 of 2 true, 82fa
| kernels_known: 2 of 2 true, 042a
| syncs_known: 2 of 2 true, 042a
| kernels.before: 2 numbers, sum 228, 376e
| kernels.after: 2 numbers, sum 117, 4a4e
| kernels.per_step_before: 2 numbers, sum 114, 9d5e
| kernels.per_step_after: 2 numbers, sum 58, df00
| kernels.fused_before: 2 numbers, sum 0, accd
| kernels.fused_after: 2 numbers, sum 0, accd
| kernels.in_graphs_before: 2 numbers, sum 0, accd
| kernels.in_graphs_after: 2 numbers, sum 0, accd
| kernels.launches_before: 2 numbers, sum 260, 056a
| kernels.launches_after: 2 numbers, sum 139, a50f
| kernels.new_names: 2 numbers, sum 1, 9d8c
| kernels.gone_names: 2 numbers, sum 26, 8567
| kernels.mechanism: 2 texts, 81db
| kernels.families[].family: 10 texts, 3663
| kernels.families[].before: 10 numbers, sum 228, 15d9
| kernels.families[].after: 10 numbers, sum 117, a19e
| kernels.families[].before_us: 10 numbers, sum 418.048, e22f
| kernels.families[].after_us: 10 numbers, sum 746.338, 6d3f
| syncs.removed[].what: 4 texts, c2fd
| syncs.removed[].kind: 4 texts, 9f1e
| syncs.removed[].file: 4 texts, 5c4e
| syncs.removed[].line: 4 numbers, sum 0, e275
| syncs.removed[].function: 4 texts, 5c4e
| syncs.removed[].count: 4 numbers, sum 28, bd27
| syncs.removed[].blocked_us: 4 numbers, sum 254.798, 9dc7
| syncs.removed[].exposed_us: 4 numbers, sum 619.632, 6677
| syncs.added[].what: 2 texts, 45f6
| syncs.added[].kind: 2 texts, e2fb
| syncs.added[].file: 2 texts, aab8
| syncs.added[].line: 2 numbers, sum 304, 03f4
| syncs.added[].function: 2 texts, 12a0
| syncs.added[].count: 2 numbers, sum 14, 7283
| syncs.added[].blocked_us: 2 numbers, sum 124.607, 7732
| syncs.added[].exposed_us: 2 numbers, sum 329.534, 2528
| syncs.in_loop_before: 2 numbers, sum 2, b43c
| syncs.in_loop_after: 2 numbers, sum 1, 857d
| trace_quality.before.verdict: 2 texts, c3c5
| trace_quality.before.idle_trusted: 2 of 2 true, 042a
| trace_quality.before.times_trusted: 2 of 2 true, 042a
| trace_quality.before.links_trusted: 2 of 2 true, 042a
| trace_quality.before.recording_cost_pct: 2 numbers, sum 8.4, d765
| trace_quality.before.python_sample_us: 0 texts, f831
| trace_quality.before.recording.ops: 2 numbers, sum 1176, f4e9
| trace_quality.before.recording.calls: 2 numbers, sum 230, 0d9b
| trace_quality.before.recording.python_frames: 2 numbers, sum 0, accd
| trace_quality.before.recording.memory_events: 2 numbers, sum 484, fa76
| trace_quality.before.recording.cost_us: 2 numbers, sum 2466, efb8
| trace_quality.before.recording.working_us: 2 numbers, sum 60818, 18f0
| trace_quality.before.recorded[]: 6 texts, b46f
| trace_quality.before.coverage.launches_expected: 2 numbers, sum 260, 056a
| trace_quality.before.coverage.launches_recorded: 2 numbers, sum 260, 056a
| trace_quality.before.coverage.pct: 2 numbers, sum 200, 994e
| trace_quality.before.coverage.devices[].device: 2 numbers, sum 0, accd
| trace_quality.before.coverage.devices[].pct: 2 numbers, sum 200, 994e
| trace_quality.before.doubts[].id: 2 texts, 687b
| trace_quality.before.doubts[].level: 2 texts, c3c5
| trace_quality.before.doubts[].count: 2 numbers, sum 0, accd
| trace_quality.before.doubts[].of: 0 texts, f831
| trace_quality.before.doubts[].what: 2 texts, 680a
| trace_quality.before.doubts[].means: 2 texts, 6211
| trace_quality.before.doubts[].instead: 2 texts, 28ad
| trace_quality.before.doubts[].example: 0 texts, f831
| trace_quality.before.doubts[].example_start_us: 0 texts, f831
| trace_quality.after.verdict: 2 texts, c3c5
| trace_quality.after.idle_trusted: 2 of 2 true, 042a
| trace_quality.after.times_trusted: 2 of 2 true, 042a
| trace_quality.after.links_trusted: 2 of 2 true, 042a
| trace_quality.after.recording_cost_pct: 2 numbers, sum 17.4, f598
| trace_quality.after.python_sample_us: 0 texts, f831
| trace_quality.after.recording.ops: 2 numbers, sum 618, d5a1
| trace_quality.after.recording.calls: 2 numbers, sum 125, 5938
| trace_quality.after.recording.python_frames: 2 numbers, sum 2829, 45bd
| trace_quality.after.recording.memory_events: 2 numbers, sum 0, accd
| trace_quality.after.recording.cost_us: 2 numbers, sum 2732.95, 4573
| trace_quality.after.recording.working_us: 2 numbers, sum 24402.3, 82fe
| trace_quality.after.recorded[]: 1 texts, c1a7
| trace_quality.after.coverage.launches_expected: 2 numbers, sum 139, a50f
| trace_quality.after.coverage.launches_recorded: 2 numbers, sum 139, a50f
| trace_quality.after.coverage.pct: 2 numbers, sum 200, 994e
| trace_quality.after.coverage.devices[].device: 2 numbers, sum 0, accd
| trace_quality.after.coverage.devices[].pct: 2 numbers, sum 200, 994e
| trace_quality.after.doubts[].id: 1 texts, 7a54
| trace_quality.after.doubts[].level: 1 texts, 28f2
| trace_quality.after.doubts[].count: 1 numbers, sum 0, 03f9
| trace_quality.after.doubts[].of: 0 texts, fbb3
| trace_quality.after.doubts[].what: 1 texts, d8f6
| trace_quality.after.doubts[].means: 1 texts, c62d
| trace_quality.after.doubts[].instead: 1 texts, ae58
| trace_quality.after.doubts[].example: 0 texts, fbb3
| trace_quality.after.doubts[].example_start_us: 0 texts, fbb3
| stages[].after: 0 texts, 056d
| stages[].before: 0 texts, fbb3

$ cd $DATA && ../cli/figures.py ranks comm/slow_rank
| exit status: 1 numbers, sum 0, 03f9
| world_size: 1 numbers, sum 4, c6fd
| step_us: 1 numbers, sum 1167.81, d1b1
| step_without_straggler_us: 1 numbers, sum 967.802, f9ad
| ranks[].rank: 4 numbers, sum 6, e248
| ranks[].host: 0 texts, 5e20
| ranks[].path: 4 texts, 9280
| ranks[].wall_us: 4 numbers, sum 23356.2, 49c5
| ranks[].compute_us: 4 numbers, sum 18400.2, 4065
| ranks[].comm_us: 4 numbers, sum 7815.06, 3f55
| ranks[].exposed_comm_us: 4 numbers, sum 4230.03, 87d2
| ranks[].exposed_comm_pct: 4 numbers, sum 72.443, d64e
| ranks[].wait_us: 4 numbers, sum 4215, a19b
| ranks[].idle_us: 4 numbers, sum 726.014, 6242
| stragglers[].rank: 1 numbers, sum 2, 617b
| stragglers[].late_us: 1 numbers, sum 1404.98, 01af
| stragglers[].collectives: 1 numbers, sum 10, c3a2
| stragglers[].stage: 0 texts, fbb3
| stragglers[].cause: 1 texts, 5a70
| stragglers[].cause_us: 1 numbers, sum 1000.11, 3414
| stragglers[].subject: 1 texts, ef42
| stragglers[].ratio: 1 numbers, sum 1.5, 1216
| stragglers[].source: 0 texts, fbb3
| collectives[].group: 10 texts, 9d9b
| collectives[].seq: 10 numbers, sum 55, 1afa
| collectives[].name: 10 texts, 7a02
| collectives[].bytes: 10 numbers, sum 1.04858e+08, 8cfb
| collectives[].members: 10 numbers, sum 40, 1ae5
| collectives[].end_us: 10 numbers, sum 33060.2, ebf8
| collectives[].transfer_us: 10 numbers, sum 900.015, 319c
| collectives[].bus_gb_per_s: 10 numbers, sum 1572.84, b682
| collectives[].matched_by: 10 texts, 840b
| collectives[].last_rank: 10 numbers, sum 20, 953e
| collectives[].spread_us: 10 numbers, sum 1405.03, 9a51
| clocks[].rank: 4 numbers, sum 6, e248
| clocks[].host: 0 texts, 5e20
| clocks[].offset_us: 4 numbers, sum -1400.03, 388c
| clocks[].drift_ppm: 4 numbers, sum -39.728, fdc9
| clocks[].error_us: 4 numbers, sum 0.001, 98c0
| critical_path[].rank: 10 numbers, sum 20, 953e
| critical_path[].start_us: 10 numbers, sum 27297.2, 9e78
| critical_path[].own_us: 10 numbers, sum 4863, 9399
| critical_path[].collective: 10 texts, 7a02
| critical_path[].seq: 10 numbers, sum 55, 1afa
| critical_path[].transfer_us: 10 numbers, sum 900.015, 319c
| pipeline: 0 texts, fbb3
| experts: 0 texts, fbb3
| unmatched: 1 numbers, sum 0, 03f9
