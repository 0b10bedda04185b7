-- runs side by side: ranks, step time, communication that nothing overlaps
SELECT run,
       count(*) AS ranks,
       max(world_size) AS world,
       round(median(step_ns) / 1e6, 3) AS step_ms,
       round(max(step_ns) / 1e6, 3) AS slowest_rank_step_ms,
       round(sum(exposed_comm_ns) * 100.0 / nullif(sum(wall_ns), 0), 2) AS exposed_comm_pct,
       round(sum(idle_ns) * 100.0 / nullif(sum(wall_ns), 0), 2) AS idle_pct
FROM runs
GROUP BY run
ORDER BY run
