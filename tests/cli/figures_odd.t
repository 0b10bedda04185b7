# Everything that is computed of traces that are odd in one way each, and of small programs that do a
# little of everything: see figures.py and programs.py.

$ $DATA/../cli/programs.py && ls | wc -l
| 63

$ $DATA/../cli/figures.py report *.json
| exit status: 63 numbers, sum 0, b74f
| wall_us: 63 numbers, sum 137588, 3030
| program_wall_us: 0 texts, 84b0
| bound: 63 texts, 25e1
| gpu_busy_pct: 63 numbers, sum 3414.7, 42f6
| communication: 0 texts, 4149
| part: 0 texts, 84b0
| abstains: 0 of 63 true, 180e
| trace_quality.verdict: 63 texts, 9195
| trace_quality.idle_trusted: 63 of 63 true, 483a
| trace_quality.times_trusted: 63 of 63 true, 483a
| trace_quality.links_trusted: 63 of 63 true, 483a
| trace_quality.recording_cost_pct: 63 numbers, sum 3322, 2995
| trace_quality.python_sample_us: 0 texts, 84b0
| trace_quality.recording.ops: 63 numbers, sum 2107, dba8
| trace_quality.recording.calls: 63 numbers, sum 2556, c65a
| trace_quality.recording.python_frames: 63 numbers, sum 352, 3b41
| trace_quality.recording.memory_events: 63 numbers, sum 176, 356a
| trace_quality.recording.cost_us: 63 numbers, sum 8554.1, 0b95
| trace_quality.recording.working_us: 63 numbers, sum 122669, 071a
| trace_quality.recorded[]: 26 texts, ce9a
| trace_quality.coverage.launches_expected: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.launches_recorded: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.pct: 63 numbers, sum 6300, ea3a
| trace_quality.coverage.devices[].device: 150 numbers, sum 1305, ccf7
| trace_quality.coverage.devices[].pct: 150 numbers, sum 15000, 56c9
| gains_are: 63 texts, aebb
| replay.traced_us: 63 numbers, sum 137588, 3030
| replay.replayed_us: 63 numbers, sum 138242, a8ae
| replay.error_pct: 63 numbers, sum 286.604, 92cd
| replay.without_profiler_us: 63 numbers, sum 131622, d8bc
| replay.cost_per_launch_us: 63 numbers, sum 247.04, b08a
| replay.cost_per_op_us: 63 numbers, sum 82.99, 0fc2
| replay.fitted: 0 of 63 true, 180e
| roofline.gpu: 63 texts, 2c08
| roofline.from: 63 texts, e54b
| roofline.memory_gb_per_s: 63 numbers, sum 269010, 069e
| roofline.of_roof_pct: 19 numbers, sum 60.01, 07c6
| roofline.kernels_us: 63 numbers, sum 53438, 124b
| roofline.known_us: 63 numbers, sum 14410, e9f3
| roofline.communication_us: 63 numbers, sum 3225, adc4
| roofline.at_roof: 0 of 63 true, 180e
| kernels[].name: 238 texts, a4ca
| kernels[].short_name: 238 texts, 875b
| kernels[].op: 238 texts, a260
| kernels[].family: 238 texts, 2456
| kernels[].calls: 238 numbers, sum 2382, cda4
| kernels[].total_us: 238 numbers, sum 57947.9, e62c
| kernels[].share_pct: 238 numbers, sum 5873.32, d878
| kernels[].work_from: 238 texts, d5a6
| cpu.only: 0 of 63 true, 180e
| cpu.operators[].name: 99 texts, 2cae
| cpu.operators[].calls: 99 numbers, sum 809, e610
| cpu.operators[].self_us: 99 numbers, sum 13035.4, fa3c
| cpu.operators[].share_pct: 99 numbers, sum 1385.71, 4028
| cpu.data_wait_us: 63 numbers, sum 0, eb51
| cpu.data_waits: 63 numbers, sum 0, b74f
| not_worth_it.count: 63 numbers, sum 96, 3533
| not_worth_it.blocked_us: 63 numbers, sum 2767.84, 1a78
| not_worth_it.gain_us: 63 numbers, sum 240.452, 80a5
| all_fixed_us: 63 numbers, sum 119215, 7255
| no_gain_reason: 35 texts, c0fb
| idle_unexplained: 43 of 63 true, 4b5b
| idle_causes[].kind: 175 texts, feb5
| idle_causes[].what: 175 texts, d56d
| idle_causes[].idle_us: 175 numbers, sum 75320.5, 15d4
| idle_causes[].share_pct: 175 numbers, sum 2587.34, 3822
| ladder[].kind: 188 texts, 80cc
| ladder[].name: 188 texts, 0df0
| ladder[].wall_us: 188 numbers, sum 279135, 51cd
| ladder[].gain_pct: 188 numbers, sum 3491.36, dd3c
| ladder[].finding: 54 numbers, sum 471, a419
| checklist[].id: 378 texts, d728
| checklist[].question: 378 texts, 0d12
| checklist[].value: 260 numbers, sum -336609, 44d7
| checklist[].unit: 378 texts, 7512
| checklist[].healthy: 182 of 378 true, 3951
| checklist[].verdict: 378 texts, 4e22
| communication.device: 6 numbers, sum 0, 1aad
| communication.recorded_us: 6 numbers, sum 12160.4, c30f
| communication.compute_us: 6 numbers, sum 5203.72, f79d
| communication.copy_us: 6 numbers, sum 971.097, 20f7
| communication.comm_us: 6 numbers, sum 3225, 6aa1
| communication.exposed_us: 6 numbers, sum 2423.51, deee
| communication.exposed_pct: 6 numbers, sum 126.734, a304
| communication.overlap_pct: 6 numbers, sum 79.42, 4b6c
| communication.groups[].group: 35 texts, a1cf
| communication.groups[].group_description: 35 texts, afdd
| communication.groups[].group_size: 30 numbers, sum 240, de43
| communication.groups[].calls: 35 numbers, sum 70, 04aa
| communication.groups[].time_us: 35 numbers, sum 3225, 0278
| communication.groups[].exposed_us: 35 numbers, sum 2423.51, 50f7
| communication.collectives[].name: 35 texts, 8077
| communication.collectives[].kernel: 35 texts, 0fab
| communication.collectives[].group: 35 texts, a1cf
| communication.collectives[].group_description: 35 texts, afdd
| communication.collectives[].group_size: 30 numbers, sum 240, de43
| communication.collectives[].calls: 35 numbers, sum 70, 04aa
| communication.collectives[].time_us: 35 numbers, sum 3225, 0278
| communication.collectives[].exposed_us: 35 numbers, sum 2423.51, 50f7
| communication.collectives[].overlap_pct: 35 numbers, sum 1133.98, 8819
| communication.collectives[].min_us: 35 numbers, sum 1680, 8198
| communication.collectives[].median_us: 35 numbers, sum 1776, 59ed
| communication.collectives[].max_us: 35 numbers, sum 2115, f1b1
| communication.collectives[].bytes: 30 numbers, sum 245760, e7d5
| communication.collectives[].algo_gb_per_s: 30 numbers, sum 4.47, 9d91
| communication.collectives[].bus_gb_per_s: 30 numbers, sum 7.83, 3c5d
| communication.collectives[].best_bus_gb_per_s: 30 numbers, sum 7.83, 3c5d
| findings[].rule: 81 texts, a8a6
| findings[].title: 81 texts, 1079
| findings[].subject: 81 texts, 317e
| findings[].severity: 81 texts, 1833
| findings[].source: 0 texts, 8e44
| findings[].blocked_us: 81 numbers, sum 18285.4, b7ce
| findings[].exposed_us: 81 numbers, sum 17256.9, 28e5
| findings[].device_us: 21 numbers, sum 7743.75, f497
| findings[].predicted_gain_us: 81 numbers, sum 12166.3, 2960
| findings[].predicted_gain_pct: 81 numbers, sum 531.197, 4365
| findings[].predicted_gain_low_pct: 81 numbers, sum 501.892, 81ee
| findings[].predicted_gain_high_pct: 81 numbers, sum 556.501, 3d4c
| findings[].predicted_gain_alone_pct: 81 numbers, sum 580.063, e8d3
| findings[].effort: 81 texts, 22bf
| findings[].only_together: 0 of 81 true, 730d
| findings[].promises_gain: 54 of 81 true, 5d67
| findings[].why: 81 texts, 6f85
| findings[].fix: 81 texts, 83b7
| findings[].not_fixed: 59 texts, d5e7
| findings[].thresholds.report_gain_pct: 50 numbers, sum 10, 296c
| findings[].evidence[].at_us: 161 numbers, sum 171413, 0b97
| findings[].evidence[].row: 118 numbers, sum 8783, 828b
| findings[].evidence[].byte_offset: 118 numbers, sum 1.30674e+06, e2e3
| findings[].evidence[].text: 180 texts, d67c
| kernels[].gb_per_s: 88 numbers, sum 274.274, 75c0
| kernels[].of_roof_pct: 49 numbers, sum 208.15, 971a
| kernels[].headroom_us: 49 numbers, sum 13487, b027
| kernels[].headroom_wall_us: 44 numbers, sum 7659.4, 4af1
| kernels[].headroom_wall_pct: 44 numbers, sum 511.937, 80fe
| cpu.functions[].name: 46 texts, a879
| cpu.functions[].calls: 46 numbers, sum 152, 7c26
| cpu.functions[].self_us: 46 numbers, sum 7123.32, 97d6
| cpu.functions[].share_pct: 46 numbers, sum 262.23, f3bc
| findings[].options[].name: 8 texts, cfac
| findings[].options[].gain_pct: 8 numbers, sum 157.834, 3e76
| findings[].options[].effort: 8 texts, c6b6
| findings[].options[].note: 8 texts, a32c
| findings[].thresholds.first_step_ratio: 6 numbers, sum 9, 5093
| trace_quality.doubts[].id: 2 texts, 3879
| trace_quality.doubts[].level: 2 texts, c3c5
| trace_quality.doubts[].count: 2 numbers, sum 0, accd
| trace_quality.doubts[].of: 0 texts, f831
| trace_quality.doubts[].what: 2 texts, 55be
| trace_quality.doubts[].means: 2 texts, 99e0
| trace_quality.doubts[].instead: 2 texts, 28ad
| trace_quality.doubts[].example: 0 texts, f831
| trace_quality.doubts[].example_start_us: 0 texts, f831
| findings[].source.file: 19 texts, 85a2
| findings[].source.line: 19 numbers, sum 133, 7c6a
| findings[].source.function: 19 texts, 5ebb
| findings[].thresholds.growth_pct: 1 numbers, sum 0.5, 7573
| kernels[].tflop_per_s: 12 numbers, sum 0.026, 4b12
| findings[].thresholds.kernel_outlier_ratio: 15 numbers, sum 27, 4475
| findings[].thresholds.comm_share_pct: 5 numbers, sum 25, a053
| findings[].thresholds.copy_share_pct: 4 numbers, sum 20, db0e

$ $DATA/../cli/figures.py syncs *.json
| exit status: 63 numbers, sum 0, b74f
| steps: 31 numbers, sum 395, 5064
| has_stacks: 16 of 63 true, e0ca
| totals.count: 63 numbers, sum 412, bcba
| totals.blocked_us: 63 numbers, sum 37563.6, 459b
| totals.exposed_us: 63 numbers, sum 7464.43, 0080
| profiler.count: 63 numbers, sum 2, 1fef
| profiler.blocked_us: 63 numbers, sum 1595, 5698
| backpressure.count: 63 numbers, sum 0, b74f
| backpressure.blocked_us: 63 numbers, sum 0, eb51
| story: 0 texts, 84b0
| trace_quality.verdict: 63 texts, 9195
| trace_quality.idle_trusted: 63 of 63 true, 483a
| trace_quality.times_trusted: 63 of 63 true, 483a
| trace_quality.links_trusted: 63 of 63 true, 483a
| trace_quality.recording_cost_pct: 63 numbers, sum 3322, 2995
| trace_quality.python_sample_us: 0 texts, 84b0
| trace_quality.recording.ops: 63 numbers, sum 2107, dba8
| trace_quality.recording.calls: 63 numbers, sum 2556, c65a
| trace_quality.recording.python_frames: 63 numbers, sum 352, 3b41
| trace_quality.recording.memory_events: 63 numbers, sum 176, 356a
| trace_quality.recording.cost_us: 63 numbers, sum 8554.1, 0b95
| trace_quality.recording.working_us: 63 numbers, sum 122669, 071a
| trace_quality.recorded[]: 26 texts, ce9a
| trace_quality.coverage.launches_expected: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.launches_recorded: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.pct: 63 numbers, sum 6300, ea3a
| trace_quality.coverage.devices[].device: 150 numbers, sum 1305, ccf7
| trace_quality.coverage.devices[].pct: 150 numbers, sum 15000, 56c9
| sites[].id: 144 numbers, sum 4589, 4f8f
| sites[].call: 144 texts, 6db1
| sites[].op: 42 texts, b88c
| sites[].inner_op: 42 texts, b88c
| sites[].kind: 144 texts, f0cd
| sites[].source: 0 texts, 66ff
| sites[].source_by: 144 texts, b464
| sites[].line_is_function_start: 5 of 144 true, e0c5
| sites[].annotation: 144 texts, 0d48
| sites[].count: 144 numbers, sum 412, d4f8
| sites[].per_step: 22 numbers, sum 32.75, 3a33
| sites[].blocked_us: 144 numbers, sum 37563.6, d1bc
| sites[].exposed_us: 144 numbers, sum 7464.43, 49b5
| sites[].longest_us: 144 numbers, sum 4194.64, ada2
| sites[].floor_us: 143 numbers, sum 2152.24, f9ea
| sites[].drains: 10 of 144 true, fe7e
| sites[].queue_depth: 144 numbers, sum 18, 548a
| sites[].behind_us: 144 numbers, sum 3030.41, 1eec
| sites[].bytes: 14 numbers, sum 6.29806e+07, 67d8
| sites[].first_us: 144 numbers, sum 127860, 0aa3
| sites[].last_us: 144 numbers, sum 168677, 84f2
| trace_quality.doubts[].id: 2 texts, 3879
| trace_quality.doubts[].level: 2 texts, c3c5
| trace_quality.doubts[].count: 2 numbers, sum 0, accd
| trace_quality.doubts[].of: 0 texts, f831
| trace_quality.doubts[].what: 2 texts, 55be
| trace_quality.doubts[].means: 2 texts, 99e0
| trace_quality.doubts[].instead: 2 texts, 28ad
| trace_quality.doubts[].example: 0 texts, f831
| trace_quality.doubts[].example_start_us: 0 texts, f831
| sites[].source.file: 11 texts, fd23
| sites[].source.line: 11 numbers, sum 77, 3a71
| sites[].source.function: 11 texts, 8b37
| sites[].stack[]: 11 texts, 23de

$ $DATA/../cli/figures.py gaps *.json
| exit status: 63 numbers, sum 0, b74f
| min_us: 63 numbers, sum 315, 6683
| devices[].device: 150 numbers, sum 1305, ccf7
| devices[].start_us: 150 numbers, sum 47973, 84d3
| devices[].window_us: 150 numbers, sum 171123, ed32
| devices[].busy_us: 150 numbers, sum 54380.8, 216c
| devices[].idle_us: 150 numbers, sum 116742, f9e1
| devices[].before_us: 150 numbers, sum 47973, 84d3
| devices[].after_us: 150 numbers, sum 57308.3, c765
| devices[].gaps: 150 numbers, sum 1859, d459
| devices[].gaps_listed: 150 numbers, sum 1547, 16fb
| devices[].median_us: 150 numbers, sum 46658.6, 5b1d
| devices[].p95_us: 150 numbers, sum 48063.8, e0ed
| devices[].mean_kernel_us: 150 numbers, sum 4456.69, 3ccd
| devices[].mean_launch_interval_us: 150 numbers, sum 46971.8, b1d6
| devices[].small_shapes: 18 of 150 true, 1fce
| causes[].device: 579 numbers, sum 1305, 801f
| causes[].kind: 579 texts, 7e0e
| causes[].name: 579 texts, ecd5
| causes[].source: 0 texts, a227
| causes[].count: 579 numbers, sum 4245, 262e
| causes[].idle_us: 579 numbers, sum 116742, 98c9
| causes[].in_steps: 579 numbers, sum 1434, 6a59
| causes[].recurs: 180 of 579 true, bdd0
| gaps[].device: 1547 numbers, sum 435, 554d
| gaps[].start_us: 1547 numbers, sum 1.74467e+06, 2a50
| gaps[].dur_us: 1547 numbers, sum 116249, 35a7
| gaps[].late_us: 1547 numbers, sum 106711, d1fd
| gaps[].step: 486 numbers, sum 3718, 29d7
| gaps[].sync_site: 323 numbers, sum 4657, b3e3
| gaps[].after: 1547 texts, 9985
| gaps[].before: 1547 texts, a28e
| gaps[].launch: 1547 texts, ee14
| gaps[].causes[].kind: 3933 texts, bbe4
| gaps[].causes[].name: 3933 texts, 9ec4
| gaps[].causes[].source: 0 texts, 27c6
| gaps[].causes[].idle_us: 3933 numbers, sum 116249, 3131
| trace_quality.verdict: 63 texts, 9195
| trace_quality.idle_trusted: 63 of 63 true, 483a
| trace_quality.times_trusted: 63 of 63 true, 483a
| trace_quality.links_trusted: 63 of 63 true, 483a
| trace_quality.recording_cost_pct: 63 numbers, sum 3322, 2995
| trace_quality.python_sample_us: 0 texts, 84b0
| trace_quality.recording.ops: 63 numbers, sum 2107, dba8
| trace_quality.recording.calls: 63 numbers, sum 2556, c65a
| trace_quality.recording.python_frames: 63 numbers, sum 352, 3b41
| trace_quality.recording.memory_events: 63 numbers, sum 176, 356a
| trace_quality.recording.cost_us: 63 numbers, sum 8554.1, 0b95
| trace_quality.recording.working_us: 63 numbers, sum 122669, 071a
| trace_quality.recorded[]: 26 texts, ce9a
| trace_quality.coverage.launches_expected: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.launches_recorded: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.pct: 63 numbers, sum 6300, ea3a
| trace_quality.coverage.devices[].device: 150 numbers, sum 1305, ccf7
| trace_quality.coverage.devices[].pct: 150 numbers, sum 15000, 56c9
| causes[].source.file: 74 texts, 9cfd
| causes[].source.line: 74 numbers, sum 768, 5009
| causes[].source.function: 74 texts, a8df
| gaps[].causes[].source.file: 294 texts, f196
| gaps[].causes[].source.line: 294 numbers, sum 2371, 8586
| gaps[].causes[].source.function: 294 texts, c1e7
| causes[].sync_site: 125 numbers, sum 4448, 5552
| trace_quality.doubts[].id: 2 texts, 3879
| trace_quality.doubts[].level: 2 texts, c3c5
| trace_quality.doubts[].count: 2 numbers, sum 0, accd
| trace_quality.doubts[].of: 0 texts, f831
| trace_quality.doubts[].what: 2 texts, 55be
| trace_quality.doubts[].means: 2 texts, 99e0
| trace_quality.doubts[].instead: 2 texts, 28ad
| trace_quality.doubts[].example: 0 texts, f831
| trace_quality.doubts[].example_start_us: 0 texts, f831

$ $DATA/../cli/figures.py kernels *.json
| exit status: 63 numbers, sum 0, b74f
| n_rows: 63 numbers, sum 333, 3a45
| rows[].name: 333 texts, d4ec
| rows[].short_name: 333 texts, 93da
| rows[].kind: 333 texts, 7a16
| rows[].family: 333 texts, d7c4
| rows[].calls: 333 numbers, sum 2614, db56
| rows[].graph_calls: 333 numbers, sum 336, 566e
| rows[].total_us: 333 numbers, sum 61763.9, b1a1
| rows[].share_pct: 333 numbers, sum 6300, efa7
| rows[].mean_us: 333 numbers, sum 9325.88, 3afe
| rows[].min_us: 333 numbers, sum 7322.08, df8a
| rows[].median_us: 333 numbers, sum 8375, 104e
| rows[].p95_us: 333 numbers, sum 13004.1, 79a6
| rows[].max_us: 333 numbers, sum 13074.1, 7ee3
| rows[].occupancy_pct: 198 numbers, sum 93.06, 0026
| rows[].occupancy_source: 198 texts, dad4
| rows[].limiter: 198 texts, 5db1
| rows[].registers: 299 numbers, sum 0, 29a3
| rows[].shared_bytes: 299 numbers, sum 0, 29a3
| rows[].grid[]: 897 numbers, sum 2376, 6bb4
| rows[].block[]: 897 numbers, sum 25740, 1601
| rows[].configs: 299 numbers, sum 299, 80b6
| rows[].work_from: 333 texts, fc50
| rows[].op: 333 texts, c48b
| rows[].ops: 333 numbers, sum 470, 08d8
| totals.work_us: 63 numbers, sum 61763.9, 4ea0
| totals.kernels: 63 numbers, sum 2412, d3db
| totals.copies: 63 numbers, sum 202, e307
| totals.memsets: 63 numbers, sum 0, b74f
| totals.replayed_us: 63 numbers, sum 3672, cc8c
| totals.captured_us: 63 numbers, sum 0, eb51
| communication: 0 texts, 4149
| trace_quality.verdict: 63 texts, 9195
| trace_quality.idle_trusted: 63 of 63 true, 483a
| trace_quality.times_trusted: 63 of 63 true, 483a
| trace_quality.links_trusted: 63 of 63 true, 483a
| trace_quality.recording_cost_pct: 63 numbers, sum 3322, 2995
| trace_quality.python_sample_us: 0 texts, 84b0
| trace_quality.recording.ops: 63 numbers, sum 2107, dba8
| trace_quality.recording.calls: 63 numbers, sum 2556, c65a
| trace_quality.recording.python_frames: 63 numbers, sum 352, 3b41
| trace_quality.recording.memory_events: 63 numbers, sum 176, 356a
| trace_quality.recording.cost_us: 63 numbers, sum 8554.1, 0b95
| trace_quality.recording.working_us: 63 numbers, sum 122669, 071a
| trace_quality.recorded[]: 26 texts, ce9a
| trace_quality.coverage.launches_expected: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.launches_recorded: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.pct: 63 numbers, sum 6300, ea3a
| trace_quality.coverage.devices[].device: 150 numbers, sum 1305, ccf7
| trace_quality.coverage.devices[].pct: 150 numbers, sum 15000, 56c9
| communication.device: 6 numbers, sum 0, 1aad
| communication.recorded_us: 6 numbers, sum 12160.4, c30f
| communication.compute_us: 6 numbers, sum 5203.72, f79d
| communication.copy_us: 6 numbers, sum 971.097, 20f7
| communication.comm_us: 6 numbers, sum 3225, 6aa1
| communication.exposed_us: 6 numbers, sum 2423.51, deee
| communication.exposed_pct: 6 numbers, sum 126.734, a304
| communication.overlap_pct: 6 numbers, sum 79.42, 4b6c
| communication.groups[].group: 35 texts, a1cf
| communication.groups[].group_description: 35 texts, afdd
| communication.groups[].group_size: 30 numbers, sum 240, de43
| communication.groups[].calls: 35 numbers, sum 70, 04aa
| communication.groups[].time_us: 35 numbers, sum 3225, 0278
| communication.groups[].exposed_us: 35 numbers, sum 2423.51, 50f7
| communication.collectives[].name: 35 texts, 8077
| communication.collectives[].kernel: 35 texts, 0fab
| communication.collectives[].group: 35 texts, a1cf
| communication.collectives[].group_description: 35 texts, afdd
| communication.collectives[].group_size: 30 numbers, sum 240, de43
| communication.collectives[].calls: 35 numbers, sum 70, 04aa
| communication.collectives[].time_us: 35 numbers, sum 3225, 0278
| communication.collectives[].exposed_us: 35 numbers, sum 2423.51, 50f7
| communication.collectives[].overlap_pct: 35 numbers, sum 1133.98, 8819
| communication.collectives[].min_us: 35 numbers, sum 1680, 8198
| communication.collectives[].median_us: 35 numbers, sum 1776, 59ed
| communication.collectives[].max_us: 35 numbers, sum 2115, f1b1
| communication.collectives[].bytes: 30 numbers, sum 245760, e7d5
| communication.collectives[].algo_gb_per_s: 30 numbers, sum 4.47, 9d91
| communication.collectives[].bus_gb_per_s: 30 numbers, sum 7.83, 3c5d
| communication.collectives[].best_bus_gb_per_s: 30 numbers, sum 7.83, 3c5d
| rows[].bytes: 100 numbers, sum 9.45205e+07, 0720
| rows[].gb_per_s: 100 numbers, sum 265.655, faaa
| rows[].roof_us: 61 numbers, sum 401, 5821
| rows[].of_roof_pct: 61 numbers, sum 195.32, e7ab
| rows[].headroom_us: 61 numbers, sum 14009, 0b2a
| trace_quality.doubts[].id: 2 texts, 3879
| trace_quality.doubts[].level: 2 texts, c3c5
| trace_quality.doubts[].count: 2 numbers, sum 0, accd
| trace_quality.doubts[].of: 0 texts, f831
| trace_quality.doubts[].what: 2 texts, 55be
| trace_quality.doubts[].means: 2 texts, 99e0
| trace_quality.doubts[].instead: 2 texts, 28ad
| trace_quality.doubts[].example: 0 texts, f831
| trace_quality.doubts[].example_start_us: 0 texts, f831
| rows[].flops: 9 numbers, sum 4.35597e+06, 8631
| rows[].tflop_per_s: 9 numbers, sum 0.012, f844
| rows[].precision: 9 texts, 60a8

$ $DATA/../cli/figures.py memory *.json
| exit status: 63 numbers, sum 0, b74f
| recorded: 10 of 63 true, dbc3
| devices[].device: 39 texts, 2ede
| devices[].device_id: 39 numbers, sum 435, 468c
| devices[].relative: 0 of 39 true, f661
| devices[].begin_bytes: 39 numbers, sum 6.29146e+06, 52de
| devices[].end_bytes: 39 numbers, sum 7.35642e+06, efa5
| devices[].peak_bytes: 39 numbers, sum 9.16736e+06, 6054
| devices[].peak_at_us: 39 numbers, sum 35062.6, 70fc
| devices[].peak_stage: 37 texts, 7034
| devices[].reserved_bytes: 39 numbers, sum 5.00618e+07, c182
| devices[].unused_bytes: 39 numbers, sum 4.08945e+07, fb52
| devices[].growth.judged: 37 of 39 true, 5647
| devices[].growth.grows: 6 of 39 true, a45d
| devices[].growth.steps: 39 numbers, sum 915, 7fea
| devices[].growth.rises: 39 numbers, sum 64, e2a8
| devices[].growth.per_step_bytes: 39 numbers, sum -342272, 6c89
| devices[].growth.total_bytes: 39 numbers, sum -455168, 2c1c
| trace_quality.verdict: 63 texts, 9195
| trace_quality.idle_trusted: 63 of 63 true, 483a
| trace_quality.times_trusted: 63 of 63 true, 483a
| trace_quality.links_trusted: 63 of 63 true, 483a
| trace_quality.recording_cost_pct: 63 numbers, sum 3322, 2995
| trace_quality.python_sample_us: 0 texts, 84b0
| trace_quality.recording.ops: 63 numbers, sum 2107, dba8
| trace_quality.recording.calls: 63 numbers, sum 2556, c65a
| trace_quality.recording.python_frames: 63 numbers, sum 352, 3b41
| trace_quality.recording.memory_events: 63 numbers, sum 176, 356a
| trace_quality.recording.cost_us: 63 numbers, sum 8554.1, 0b95
| trace_quality.recording.working_us: 63 numbers, sum 122669, 071a
| trace_quality.recorded[]: 26 texts, ce9a
| trace_quality.coverage.launches_expected: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.launches_recorded: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.pct: 63 numbers, sum 6300, ea3a
| trace_quality.coverage.devices[].device: 150 numbers, sum 1305, ccf7
| trace_quality.coverage.devices[].pct: 150 numbers, sum 15000, 56c9
| devices[].steps[].index: 952 numbers, sum 13224, 136b
| devices[].steps[].end_bytes: 952 numbers, sum 5.68545e+07, 238e
| devices[].steps[].peak_bytes: 952 numbers, sum 5.92881e+07, 6b75
| devices[].steps[].allocations: 952 numbers, sum 102, 90e2
| devices[].steps[].alloc_bytes: 952 numbers, sum 5.52806e+06, a04e
| stages[].path: 290 texts, 8db8
| stages[].peak_bytes: 57 numbers, sum 3.3002e+07, 5f51
| stages[].allocations: 290 numbers, sum 126, 2155
| stages[].alloc_bytes: 290 numbers, sum 5.62637e+06, 4c91
| sites[].op: 0 texts, 036c
| sites[].source: 0 texts, 5e20
| sites[].count: 8 numbers, sum 102, a2c9
| sites[].bytes: 8 numbers, sum 5.52806e+06, 7d38
| sites[].largest_bytes: 8 numbers, sum 532480, d683
| sites[].kept_bytes: 8 numbers, sum 319488, 4ad3
| trace_quality.doubts[].id: 2 texts, 3879
| trace_quality.doubts[].level: 2 texts, c3c5
| trace_quality.doubts[].count: 2 numbers, sum 0, accd
| trace_quality.doubts[].of: 0 texts, f831
| trace_quality.doubts[].what: 2 texts, 55be
| trace_quality.doubts[].means: 2 texts, 99e0
| trace_quality.doubts[].instead: 2 texts, 28ad
| trace_quality.doubts[].example: 0 texts, f831
| trace_quality.doubts[].example_start_us: 0 texts, f831
| sites[].source.file: 4 texts, 0756
| sites[].source.line: 4 numbers, sum 28, b438
| sites[].source.function: 4 texts, 1562
| driver_calls[].call: 6 texts, 9564
| driver_calls[].count: 6 numbers, sum 56, cf59
| driver_calls[].in_steps: 6 numbers, sum 56, cf59
| driver_calls[].total_us: 6 numbers, sum 4480, 14eb
| driver_calls[].in_steps_us: 6 numbers, sum 4480, 14eb

$ $DATA/../cli/figures.py launches *.json
| exit status: 63 numbers, sum 0, b74f
| devices[].device: 150 numbers, sum 1305, ccf7
| devices[].start_us: 150 numbers, sum 47973, 84d3
| devices[].window_us: 150 numbers, sum 171123, ed32
| devices[].ahead: 150 texts, 666c
| devices[].mean_depth: 150 numbers, sum 61.481, 41e5
| devices[].median_depth: 150 numbers, sum 50, a767
| devices[].p95_depth: 150 numbers, sum 161, 5d2c
| devices[].max_depth: 150 numbers, sum 305, ad89
| devices[].empty_pct: 150 numbers, sum 13062.8, 2f11
| devices[].at_most_2_pct: 150 numbers, sum 14502.6, 7dd7
| devices[].starved_pct: 150 numbers, sum 4496.58, bca2
| devices[].mean_depth_over_time[]: 9000 numbers, sum 3687.51, 5e23
| all.launches: 63 numbers, sum 2181, 7ee8
| all.graph_launches: 63 numbers, sum 105, 884d
| all.kernels: 63 numbers, sum 2412, d3db
| all.kernels_by_wait.idle_stream: 63 numbers, sum 1674, 22c1
| all.kernels_by_wait.queued: 63 numbers, sum 477, f3fd
| all.kernels_by_wait.behind_other_streams: 63 numbers, sum 0, b74f
| all.kernels_by_wait.in_graph: 63 numbers, sum 231, 9c05
| all.kernels_by_wait.overhead: 63 numbers, sum 30, e891
| all.kernels_by_wait.before_launch: 63 numbers, sum 0, b74f
| all.kernels_by_wait.no_launch: 63 numbers, sum 0, b74f
| all.latency_from_call_start.count: 63 numbers, sum 1674, 22c1
| all.latency_from_call_start.total_us: 63 numbers, sum 10531.1, ba71
| all.latency_from_call_start.median_us: 63 numbers, sum 518, 3a53
| all.latency_from_call_start.p95_us: 63 numbers, sum 661.93, 1d7d
| all.latency_from_call_start.max_us: 63 numbers, sum 664.93, c0c5
| all.latency_from_call_end.count: 63 numbers, sum 1674, 22c1
| all.latency_from_call_end.total_us: 63 numbers, sum 5263.14, d6ce
| all.latency_from_call_end.median_us: 63 numbers, sum 316, 06ac
| all.latency_from_call_end.p95_us: 63 numbers, sum 465.93, accf
| all.latency_from_call_end.max_us: 63 numbers, sum 474.93, 5317
| all.queue_wait.count: 63 numbers, sum 477, f3fd
| all.queue_wait.total_us: 63 numbers, sum 54189.6, f06c
| all.queue_wait.median_us: 63 numbers, sum 2586.79, e169
| all.queue_wait.p95_us: 63 numbers, sum 4719.14, 080e
| all.queue_wait.max_us: 63 numbers, sum 4757.04, 7b20
| all.back_to_back_gap.count: 63 numbers, sum 477, f3fd
| all.back_to_back_gap.total_us: 63 numbers, sum 510.042, 820c
| all.back_to_back_gap.median_us: 63 numbers, sum 37, 2eed
| all.back_to_back_gap.p95_us: 63 numbers, sum 153.042, f82f
| all.back_to_back_gap.max_us: 63 numbers, sum 153.042, f82f
| all.kernel.count: 63 numbers, sum 2412, d3db
| all.kernel.total_us: 63 numbers, sum 56663, 8e7c
| all.kernel.median_us: 63 numbers, sum 2338, a994
| all.kernel.p95_us: 63 numbers, sum 3946.5, 3238
| all.kernel.max_us: 63 numbers, sum 4002.75, b3d5
| all.launch_interval.count: 63 numbers, sum 2014, cb7c
| all.launch_interval.total_us: 63 numbers, sum 119256, 334a
| all.launch_interval.median_us: 63 numbers, sum 5043.37, d235
| all.launch_interval.p95_us: 63 numbers, sum 7477.61, 769e
| all.launch_interval.max_us: 63 numbers, sum 7870.75, c219
| all.median_depth_at_launch: 63 numbers, sum 41, fc1a
| all.launch_bound: 32 of 63 true, 2215
| calls[].name: 83 texts, abb0
| calls[].device_records: 83 numbers, sum 2614, 0407
| calls[].cost.count: 83 numbers, sum 2383, f1b2
| calls[].cost.total_us: 83 numbers, sum 7849, ba8a
| calls[].cost.median_us: 83 numbers, sum 303, d3b5
| calls[].cost.p95_us: 83 numbers, sum 303, d3b5
| calls[].cost.max_us: 83 numbers, sum 303, d3b5
| trace_quality.verdict: 63 texts, 9195
| trace_quality.idle_trusted: 63 of 63 true, 483a
| trace_quality.times_trusted: 63 of 63 true, 483a
| trace_quality.links_trusted: 63 of 63 true, 483a
| trace_quality.recording_cost_pct: 63 numbers, sum 3322, 2995
| trace_quality.python_sample_us: 0 texts, 84b0
| trace_quality.recording.ops: 63 numbers, sum 2107, dba8
| trace_quality.recording.calls: 63 numbers, sum 2556, c65a
| trace_quality.recording.python_frames: 63 numbers, sum 352, 3b41
| trace_quality.recording.memory_events: 63 numbers, sum 176, 356a
| trace_quality.recording.cost_us: 63 numbers, sum 8554.1, 0b95
| trace_quality.recording.working_us: 63 numbers, sum 122669, 071a
| trace_quality.recorded[]: 26 texts, ce9a
| trace_quality.coverage.launches_expected: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.launches_recorded: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.pct: 63 numbers, sum 6300, ea3a
| trace_quality.coverage.devices[].device: 150 numbers, sum 1305, ccf7
| trace_quality.coverage.devices[].pct: 150 numbers, sum 15000, 56c9
| stages[].path: 290 texts, 8db8
| stages[].launches: 290 numbers, sum 6587, 2c26
| stages[].graph_launches: 290 numbers, sum 99, 6622
| stages[].kernels: 290 numbers, sum 6806, 0084
| stages[].kernels_by_wait.idle_stream: 290 numbers, sum 6151, 0153
| stages[].kernels_by_wait.queued: 290 numbers, sum 436, 8b0c
| stages[].kernels_by_wait.behind_other_streams: 290 numbers, sum 0, ae68
| stages[].kernels_by_wait.in_graph: 290 numbers, sum 219, 5a65
| stages[].kernels_by_wait.overhead: 290 numbers, sum 0, ae68
| stages[].kernels_by_wait.before_launch: 290 numbers, sum 0, ae68
| stages[].kernels_by_wait.no_launch: 290 numbers, sum 0, ae68
| stages[].latency_from_call_start.count: 290 numbers, sum 6151, 0153
| stages[].latency_from_call_start.total_us: 290 numbers, sum 34617.3, c17b
| stages[].latency_from_call_start.median_us: 290 numbers, sum 1598, 19d8
| stages[].latency_from_call_start.p95_us: 290 numbers, sum 1669.14, fa97
| stages[].latency_from_call_start.max_us: 290 numbers, sum 1669.14, fa97
| stages[].latency_from_call_end.count: 290 numbers, sum 6151, 0153
| stages[].latency_from_call_end.total_us: 290 numbers, sum 15882.3, 9e4f
| stages[].latency_from_call_end.median_us: 290 numbers, sum 771, e620
| stages[].latency_from_call_end.p95_us: 290 numbers, sum 830.144, 5d69
| stages[].latency_from_call_end.max_us: 290 numbers, sum 830.144, 5d69
| stages[].queue_wait.count: 290 numbers, sum 436, 8b0c
| stages[].queue_wait.total_us: 290 numbers, sum 65604.6, a4d0
| stages[].queue_wait.median_us: 290 numbers, sum 6644.7, e9c8
| stages[].queue_wait.p95_us: 290 numbers, sum 10890.7, 917d
| stages[].queue_wait.max_us: 290 numbers, sum 10901.6, 78ca
| stages[].back_to_back_gap.count: 290 numbers, sum 436, 8b0c
| stages[].back_to_back_gap.total_us: 290 numbers, sum 496.043, cd1e
| stages[].back_to_back_gap.median_us: 290 numbers, sum 62, f3da
| stages[].back_to_back_gap.p95_us: 290 numbers, sum 206.043, e5c1
| stages[].back_to_back_gap.max_us: 290 numbers, sum 206.043, e5c1
| stages[].kernel.count: 290 numbers, sum 6806, 0084
| stages[].kernel.total_us: 290 numbers, sum 66146.8, d493
| stages[].kernel.median_us: 290 numbers, sum 6021.25, e773
| stages[].kernel.p95_us: 290 numbers, sum 9228.25, a25f
| stages[].kernel.max_us: 290 numbers, sum 9273.25, 905d
| stages[].launch_interval.count: 290 numbers, sum 6312, 9206
| stages[].launch_interval.total_us: 290 numbers, sum 211241, 71e9
| stages[].launch_interval.median_us: 290 numbers, sum 15418.6, 5681
| stages[].launch_interval.p95_us: 290 numbers, sum 21706.4, aa34
| stages[].launch_interval.max_us: 290 numbers, sum 22039.7, 6a88
| stages[].median_depth_at_launch: 290 numbers, sum 99, cf87
| stages[].launch_bound: 96 of 290 true, a598
| trace_quality.doubts[].id: 2 texts, 3879
| trace_quality.doubts[].level: 2 texts, c3c5
| trace_quality.doubts[].count: 2 numbers, sum 0, accd
| trace_quality.doubts[].of: 0 texts, f831
| trace_quality.doubts[].what: 2 texts, 55be
| trace_quality.doubts[].means: 2 texts, 99e0
| trace_quality.doubts[].instead: 2 texts, 28ad
| trace_quality.doubts[].example: 0 texts, f831
| trace_quality.doubts[].example_start_us: 0 texts, f831

$ $DATA/../cli/figures.py stages *.json
| exit status: 63 numbers, sum 0, b74f
| steps_cpu_us: 63 numbers, sum 85406.6, 7f2b
| steps_gpu_us: 63 numbers, sum 35963.9, fe3f
| between.cpu_us: 63 numbers, sum 10945, 463f
| between.blocked_us: 63 numbers, sum 0, eb51
| between.untraced_us: 63 numbers, sum 10892, b3ea
| between.gpu_us: 63 numbers, sum 0, eb51
| between.gpu_busy_us: 63 numbers, sum 0, eb51
| between.gpu_span_us: 63 numbers, sum 0, eb51
| between.idle_us: 63 numbers, sum 0, eb51
| between.kernels: 63 numbers, sum 0, b74f
| between.copies: 63 numbers, sum 0, b74f
| between.memsets: 63 numbers, sum 0, b74f
| between.copy_bytes: 63 numbers, sum 0, b74f
| between.idle_meanwhile_us: 63 numbers, sum 6596.26, 5c10
| between.launches: 63 numbers, sum 0, b74f
| between.syncs: 63 numbers, sum 0, b74f
| trace_quality.verdict: 63 texts, 9195
| trace_quality.idle_trusted: 63 of 63 true, 483a
| trace_quality.times_trusted: 63 of 63 true, 483a
| trace_quality.links_trusted: 63 of 63 true, 483a
| trace_quality.recording_cost_pct: 63 numbers, sum 3322, 2995
| trace_quality.python_sample_us: 0 texts, 84b0
| trace_quality.recording.ops: 63 numbers, sum 2107, dba8
| trace_quality.recording.calls: 63 numbers, sum 2556, c65a
| trace_quality.recording.python_frames: 63 numbers, sum 352, 3b41
| trace_quality.recording.memory_events: 63 numbers, sum 176, 356a
| trace_quality.recording.cost_us: 63 numbers, sum 8554.1, 0b95
| trace_quality.recording.working_us: 63 numbers, sum 122669, 071a
| trace_quality.recorded[]: 26 texts, ce9a
| trace_quality.coverage.launches_expected: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.launches_recorded: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.pct: 63 numbers, sum 6300, ea3a
| trace_quality.coverage.devices[].device: 150 numbers, sum 1305, ccf7
| trace_quality.coverage.devices[].pct: 150 numbers, sum 15000, 56c9
| stages[].name: 290 texts, 1670
| stages[].path: 290 texts, 8db8
| stages[].kind: 290 texts, 0d4e
| stages[].derived: 64 of 290 true, 09bc
| stages[].from: 290 texts, 90be
| stages[].container: 8 of 290 true, f2ad
| stages[].count: 290 numbers, sum 1083, 7c24
| stages[].cpu_us: 290 numbers, sum 294185, 25c1
| stages[].self_cpu_us: 290 numbers, sum 143307, 4a5c
| stages[].blocked_us: 290 numbers, sum 17820.4, 4778
| stages[].gpu_us: 290 numbers, sum 74569.1, 2c2a
| stages[].gpu_busy_us: 290 numbers, sum 70959.3, e3c3
| stages[].gpu_span_us: 290 numbers, sum 131310, bcf1
| stages[].idle_us: 290 numbers, sum 54619.1, cf74
| stages[].kernels: 290 numbers, sum 6806, 0084
| stages[].copies: 290 numbers, sum 280, 95aa
| stages[].memsets: 290 numbers, sum 0, ae68
| stages[].copy_bytes: 290 numbers, sum 1.48807e+08, 2f9b
| stages[].self_gpu_us: 290 numbers, sum 40421.9, e65a
| stages[].idle_meanwhile_us: 290 numbers, sum 130337, 08ff
| stages[].launches: 290 numbers, sum 6867, 6703
| stages[].graph_launches: 290 numbers, sum 99, 6622
| stages[].syncs: 290 numbers, sum 1526, 2824
| stages[].allocations: 290 numbers, sum 126, 2155
| stages[].alloc_bytes: 290 numbers, sum 5.62637e+06, 4c91
| stages[].device_allocs: 290 numbers, sum 80, be39
| stages[].first_us: 290 numbers, sum 205753, a98a
| stages[].median_us: 290 numbers, sum 205819, d3fb
| stages[].p95_us: 290 numbers, sum 207007, bd12
| stages[].gpu_first_us: 290 numbers, sum 33653.4, a6bc
| stages[].gpu_median_us: 290 numbers, sum 32616.4, ccf7
| stages[].gpu_p95_us: 290 numbers, sum 37891.2, e6be
| stages[].step_cpu_pct: 86 numbers, sum 3386.03, d9cb
| stages[].step_gpu_pct: 86 numbers, sum 4105.38, 752a
| stages[].peak_bytes: 57 numbers, sum 3.3002e+07, 5f51
| trace_quality.doubts[].id: 2 texts, 3879
| trace_quality.doubts[].level: 2 texts, c3c5
| trace_quality.doubts[].count: 2 numbers, sum 0, accd
| trace_quality.doubts[].of: 0 texts, f831
| trace_quality.doubts[].what: 2 texts, 55be
| trace_quality.doubts[].means: 2 texts, 99e0
| trace_quality.doubts[].instead: 2 texts, 28ad
| trace_quality.doubts[].example: 0 texts, f831
| trace_quality.doubts[].example_start_us: 0 texts, f831
| between.top[].name: 7 texts, a19c
| between.top[].self_us: 7 numbers, sum 53.004, baa6
| between.top[].calls: 7 numbers, sum 53, 5e44

$ $DATA/../cli/figures.py steps *.json
| exit status: 63 numbers, sum 0, b74f
| found_by: 63 texts, 9070
| items_per_step: 63 numbers, sum 55, 8ef6
| median_us: 63 numbers, sum 9514.1, b3f2
| median_launches: 63 numbers, sum 211, 6808
| trace_quality.verdict: 63 texts, 9195
| trace_quality.idle_trusted: 63 of 63 true, 483a
| trace_quality.times_trusted: 63 of 63 true, 483a
| trace_quality.links_trusted: 63 of 63 true, 483a
| trace_quality.recording_cost_pct: 63 numbers, sum 3322, 2995
| trace_quality.python_sample_us: 0 texts, 84b0
| trace_quality.recording.ops: 63 numbers, sum 2107, dba8
| trace_quality.recording.calls: 63 numbers, sum 2556, c65a
| trace_quality.recording.python_frames: 63 numbers, sum 352, 3b41
| trace_quality.recording.memory_events: 63 numbers, sum 176, 356a
| trace_quality.recording.cost_us: 63 numbers, sum 8554.1, 0b95
| trace_quality.recording.working_us: 63 numbers, sum 122669, 071a
| trace_quality.recorded[]: 26 texts, ce9a
| trace_quality.coverage.launches_expected: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.launches_recorded: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.pct: 63 numbers, sum 6300, ea3a
| trace_quality.coverage.devices[].device: 150 numbers, sum 1305, ccf7
| trace_quality.coverage.devices[].pct: 150 numbers, sum 15000, 56c9
| levels[].role: 34 texts, cb35
| levels[].name: 30 texts, 7b32
| levels[].count: 34 numbers, sum 441, 85a2
| levels[].per_outer: 34 numbers, sum 414, 9287
| levels[].median_us: 34 numbers, sum 11753.8, 694d
| levels[].found_by: 34 texts, 341a
| steps[].index: 395 numbers, sum 3992, c902
| steps[].name: 286 texts, 6d28
| steps[].number: 111 numbers, sum 1453, b916
| steps[].start_us: 395 numbers, sum 804164, 70f3
| steps[].dur_us: 395 numbers, sum 85406.6, 3288
| steps[].cpu_us: 395 numbers, sum 76921.6, a98b
| steps[].blocked_us: 395 numbers, sum 6273.6, 4bee
| steps[].profiler_us: 395 numbers, sum 0, 5d50
| steps[].gpu_us: 395 numbers, sum 35963.9, 621a
| steps[].gpu_busy_us: 395 numbers, sum 32870.7, 60f3
| steps[].gpu_start_us: 395 numbers, sum 814696, e2c2
| steps[].gpu_span_us: 395 numbers, sum 48018, 0761
| steps[].gpu_idle_us: 395 numbers, sum 9820.9, 850f
| steps[].comm_us: 395 numbers, sum 3225, bc65
| steps[].exposed_comm_us: 395 numbers, sum 2423.51, 34b0
| steps[].kernels: 395 numbers, sum 997, db70
| steps[].copies: 395 numbers, sum 202, aa42
| steps[].memsets: 395 numbers, sum 0, 5f67
| steps[].copy_bytes: 395 numbers, sum 8.79801e+07, 22d4
| steps[].launches: 395 numbers, sum 1028, 9250
| steps[].syncs: 395 numbers, sum 130, eb20
| steps[].flags[]: 27 texts, 9595
| trace_quality.doubts[].id: 2 texts, 3879
| trace_quality.doubts[].level: 2 texts, c3c5
| trace_quality.doubts[].count: 2 numbers, sum 0, accd
| trace_quality.doubts[].of: 0 texts, f831
| trace_quality.doubts[].what: 2 texts, 55be
| trace_quality.doubts[].means: 2 texts, 99e0
| trace_quality.doubts[].instead: 2 texts, 28ad
| trace_quality.doubts[].example: 0 texts, f831
| trace_quality.doubts[].example_start_us: 0 texts, f831

$ $DATA/../cli/figures.py table *.json
| exit status: 63 numbers, sum 0, b74f
| by: 63 texts, 3d13
| n_rows: 63 numbers, sum 1140, 758d
| rows[].name: 1140 texts, 0a38
| rows[].device: 1140 texts, fe85
| rows[].is_annotation: 450 of 1140 true, f95e
| rows[].calls: 1140 numbers, sum 7734, 4c47
| rows[].self_cpu_us: 1140 numbers, sum 231290, d2c8
| rows[].self_cpu_pct: 1140 numbers, sum 6299.99, 0269
| rows[].cpu_total_us: 1140 numbers, sum 709687, 1e1a
| rows[].cpu_total_pct: 1140 numbers, sum 34389.3, c663
| rows[].cpu_avg_us: 1140 numbers, sum 429609, cf34
| rows[].self_device_us: 1140 numbers, sum 91465.7, 9886
| rows[].self_device_pct: 1140 numbers, sum 9164.57, 8f61
| rows[].device_total_us: 1140 numbers, sum 137801, 56d2
| rows[].device_avg_us: 1140 numbers, sum 37690.4, ab1e
| rows[].cpu_mem_bytes: 1140 numbers, sum 0, 5ca5
| rows[].self_cpu_mem_bytes: 1140 numbers, sum 0, 5ca5
| rows[].device_mem_bytes: 1140 numbers, sum 4.74726e+06, 2bde
| rows[].self_device_mem_bytes: 1140 numbers, sum 4.52608e+06, b067
| rows[].flops: 1140 numbers, sum 7.64147e+06, 772a
| totals.self_cpu_us: 63 numbers, sum 231290, 957c
| totals.self_device_us: 63 numbers, sum 61763.9, 4ea0
| n_unfinished: 63 numbers, sum 0, b74f
| trace_quality.verdict: 63 texts, 9195
| trace_quality.idle_trusted: 63 of 63 true, 483a
| trace_quality.times_trusted: 63 of 63 true, 483a
| trace_quality.links_trusted: 63 of 63 true, 483a
| trace_quality.recording_cost_pct: 63 numbers, sum 3322, 2995
| trace_quality.python_sample_us: 0 texts, 84b0
| trace_quality.recording.ops: 63 numbers, sum 2107, dba8
| trace_quality.recording.calls: 63 numbers, sum 2556, c65a
| trace_quality.recording.python_frames: 63 numbers, sum 352, 3b41
| trace_quality.recording.memory_events: 63 numbers, sum 176, 356a
| trace_quality.recording.cost_us: 63 numbers, sum 8554.1, 0b95
| trace_quality.recording.working_us: 63 numbers, sum 122669, 071a
| trace_quality.recorded[]: 26 texts, ce9a
| trace_quality.coverage.launches_expected: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.launches_recorded: 63 numbers, sum 2383, 57c9
| trace_quality.coverage.pct: 63 numbers, sum 6300, ea3a
| trace_quality.coverage.devices[].device: 150 numbers, sum 1305, ccf7
| trace_quality.coverage.devices[].pct: 150 numbers, sum 15000, 56c9
| trace_quality.doubts[].id: 2 texts, 3879
| trace_quality.doubts[].level: 2 texts, c3c5
| trace_quality.doubts[].count: 2 numbers, sum 0, accd
| trace_quality.doubts[].of: 0 texts, f831
| trace_quality.doubts[].what: 2 texts, 55be
| trace_quality.doubts[].means: 2 texts, 99e0
| trace_quality.doubts[].instead: 2 texts, 28ad
| trace_quality.doubts[].example: 0 texts, f831
| trace_quality.doubts[].example_start_us: 0 texts, f831
