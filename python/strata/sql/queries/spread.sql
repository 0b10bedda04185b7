-- the collectives whose ranks arrive furthest apart
SELECT run, name, group_name, number, ranks, largest_bytes,
       round(moved_ns / 1e3, 1) AS transfer_us,
       round(spread_ns / 1e3, 1) AS spread_us,
       last_rank
FROM matched
ORDER BY spread_ns DESC, run, group_name, number
LIMIT 20
