# Who keeps the others waiting, why, and what a step would take without it.
$ strata report $DATA/comm/slow_rank
| 4 of 4 ranks, 10 collectives matched by number
|
|   Rank 2 is the straggler: gemm_backward takes 1.50x as long as elsewhere
|   Fixing it: 1.17 ms -> 968 us per step (-17.1 %)
|   rank 2 is late by 1.40 ms in total, to 10 collectives
|
|   rank     wall  compute  communication    alone  of wall    waits  GPU idle
|      0  5839 us  4350 us        2305 us  1310 us   22.4 %  1405 us    179 us
|      1  5839 us  4350 us        2305 us  1310 us   22.4 %  1405 us    179 us
|      2  5839 us  5350 us         900 us   300 us    5.1 %        -    189 us
|      3  5839 us  4350 us        2305 us  1310 us   22.4 %  1405 us    179 us
|
|   where ranks arrive furthest apart
|   collective  group       number    bytes  transfer  bus GB/s   apart  last rank
|   all_reduce  default_pg       2  4.19 MB   60.0 us       105  181 us          2
|   all_reduce  default_pg       4  4.19 MB   60.0 us       105  181 us          2
|   all_reduce  default_pg       6  4.19 MB   60.0 us       105  181 us          2
|   all_reduce  default_pg       8  4.19 MB   60.0 us       105  181 us          2
|   all_reduce  default_pg      10  4.19 MB   60.0 us       105  181 us          2
|
|   critical path: transfers 15.6 %, rank 2 84.4 %
|   clocks: up to 700 us apart, aligned to 1 ns on the ends of collectives
|
| next: strata report $DATA/comm/slow_rank/rank0.json   one rank by itself
$ strata report $DATA/comm/slow_rank --json | jq -c '.world_size, .stragglers, .step_us, .step_without_straggler_us, .unmatched, .ranks[2], .collectives[0], .clocks[3], .critical_path[0]'
| 4
| [{"rank":2,"late_us":1404.985,"collectives":10,"stage":null,"cause":"slow_kernel","cause_us":1000.105,"subject":"gemm_backward","ratio":1.5,"source":null}]
| 1167.811
| 967.802
| 0
| {"rank":2,"host":null,"wall_us":5839.117,"compute_us":5350.105,"comm_us":900.015,"exposed_comm_us":300.005,"exposed_comm_pct":5.138,"wait_us":0,"idle_us":189.007,"path":"$DATA/comm/slow_rank/rank2.json"}
| {"group":"default_pg","seq":1,"name":"all_reduce","bytes":16777216,"members":4,"end_us":849.017,"transfer_us":120.002,"bus_gb_per_s":209.711705,"matched_by":"number","last_rank":2,"spread_us":100.002}
| {"rank":3,"host":null,"offset_us":-700.017,"drift_ppm":-19.864,"error_us":0.001}
| {"rank":2,"start_us":0,"own_us":729.015,"collective":"all_reduce","seq":1,"transfer_us":120.002}
# A folder of the traces of all ranks is meant as a whole.
$ strata report $DATA/comm/slow_rank | grep -e late -e next
|   rank 2 is late by 1.40 ms in total, to 10 collectives
| next: strata report $DATA/comm/slow_rank/rank0.json   one rank by itself
$ strata report $DATA/comm/slow_rank --md
| # slow\_rank: 4 of 4 ranks, 10 collectives matched by number
|
| Rank 2 is the straggler: gemm\_backward takes 1.50x as long as elsewhere
|
| Fixing it: 1.17 ms -> 968 us per step (-17.1 %)
|
| - rank 2 is late by 1.40 ms in total, to 10 collectives
|
| | rank | wall | compute | communication | alone | of wall | waits | GPU idle |
| |--:|--:|--:|--:|--:|--:|--:|--:|
| | 0 | 5839 us | 4350 us | 2305 us | 1310 us | 22.4 % | 1405 us | 179 us |
| | 1 | 5839 us | 4350 us | 2305 us | 1310 us | 22.4 % | 1405 us | 179 us |
| | 2 | 5839 us | 5350 us | 900 us | 300 us | 5.1 % | - | 189 us |
| | 3 | 5839 us | 4350 us | 2305 us | 1310 us | 22.4 % | 1405 us | 179 us |
|
| ## Where ranks arrive furthest apart
|
| | collective | group | number | bytes | transfer | bus GB/s | apart | last rank |
| |---|---|--:|--:|--:|--:|--:|--:|
| | all\_reduce | default\_pg | 2 | 4.19 MB | 60.0 us | 105 | 181 us | 2 |
| | all\_reduce | default\_pg | 4 | 4.19 MB | 60.0 us | 105 | 181 us | 2 |
| | all\_reduce | default\_pg | 6 | 4.19 MB | 60.0 us | 105 | 181 us | 2 |
| | all\_reduce | default\_pg | 8 | 4.19 MB | 60.0 us | 105 | 181 us | 2 |
| | all\_reduce | default\_pg | 10 | 4.19 MB | 60.0 us | 105 | 181 us | 2 |
|
| critical path: transfers 15.6 %, rank 2 84.4 %
|
| clocks: up to 700 us apart, aligned to 1 ns on the ends of collectives
$ strata report $DATA/comm/slow_rank/rank0.json $DATA/comm/slow_rank/rank2.json $DATA/comm/slow_rank/rank0.json --md | grep -v twice
| # ranks: 2 of 4 ranks, 10 collectives matched by number
|
| > missing: rank 1, 3
|
|
| Rank 2 is the straggler: gemm\_backward takes 1.50x as long as elsewhere
|
| Fixing it: 1.17 ms -> 968 us per step (-17.1 %)
|
| - rank 2 is late by 1.40 ms in total, to 10 collectives
|
| | rank | wall | compute | communication | alone | of wall | waits | GPU idle |
| |--:|--:|--:|--:|--:|--:|--:|--:|
| | 0 | 5839 us | 4350 us | 2305 us | 1310 us | 22.4 % | 1405 us | 179 us |
| | 2 | 5839 us | 5350 us | 900 us | 300 us | 5.1 % | - | 189 us |
|
| ## Where ranks arrive furthest apart
|
| | collective | group | number | bytes | transfer | bus GB/s | apart | last rank |
| |---|---|--:|--:|--:|--:|--:|--:|
| | all\_reduce | default\_pg | 2 | 4.19 MB | 60.0 us | 105 | 181 us | 2 |
| | all\_reduce | default\_pg | 4 | 4.19 MB | 60.0 us | 105 | 181 us | 2 |
| | all\_reduce | default\_pg | 6 | 4.19 MB | 60.0 us | 105 | 181 us | 2 |
| | all\_reduce | default\_pg | 8 | 4.19 MB | 60.0 us | 105 | 181 us | 2 |
| | all\_reduce | default\_pg | 10 | 4.19 MB | 60.0 us | 105 | 181 us | 2 |
|
| critical path: transfers 15.6 %, rank 2 84.4 %
|
| clocks: up to 700 us apart, aligned to 0 on the ends of collectives
# A page, and with it another format where both are asked for.
$ strata report $DATA/comm/slow_rank --html x.html 2>&1 | grep -o 'wrote x.html'
| wrote x.html
$ strata report $DATA/comm/slow_rank --html y.html --json 2>/dev/null | jq .world_size
| 4
$ grep -c '"kind":"ranks"' x.html y.html
| x.html:1
| y.html:1

# A rank that is not there, one that is there twice, and a file that is no trace.
$ echo nonsense > rank1.json
$ strata report $DATA/comm/slow_rank/rank0.json $DATA/comm/slow_rank/rank2.json $DATA/comm/slow_rank/rank0.json rank1.json | head -4
| 2 of 4 ranks, 10 collectives matched by number
|   !  missing: rank 1, 3
|   !  rank 0 is there twice; left out: $DATA/comm/slow_rank/rank0.json
|
! strata: rank1.json: not a trace: expected '{' or '[' at byte 0, found "nonsense"; left out
$ strata report --ranks rank1.json
! strata: rank1.json: not a trace: expected '{' or '[' at byte 0, found "nonsense"; left out
! strata: none of the files is a trace
? 3
$ mkdir empty && strata report --ranks empty
! strata: empty: this folder has no recordings and no traces; expected a trace file or a run folder
? 2
$ strata report --ranks nowhere
! strata: nowhere: cannot open: No such file or directory; left out
! strata: none of the files is a trace
? 3

# Traces without any collective say nothing about who waits; nor does one alone.
$ mkdir apart && ln -s $DATA/torch/plain.json.gz apart/rank0.json.gz && ln -s $DATA/torch/plain.json.gz apart/rank1.json.gz
$ strata report --ranks apart && strata report --ranks apart/rank0.json.gz
| 2 of 2 ranks, 0 collectives matched
|
|   who waits for whom is unknown: these traces share no collective
|
|   rank     wall  compute  communication  alone  of wall  waits
|      0  25.3 ms  25.2 ms              -      -        -      -
|      1  25.3 ms  25.2 ms              -      -        -      -
|
| next: strata report apart/rank0.json.gz   one rank by itself
| 1 of 1 ranks, 0 collectives matched
|
|   it takes the traces of several ranks to see who waits for whom
|
|   rank     wall  compute  communication  alone  of wall  waits
|      0  25.3 ms  25.2 ms              -      -        -      -
|
