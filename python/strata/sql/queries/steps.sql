-- step times of each rank
SELECT run, rank,
       count(*) AS steps,
       round(min(dur_ns) / 1e6, 3) AS fastest_ms,
       round(median(dur_ns) / 1e6, 3) AS median_ms,
       round(max(dur_ns) / 1e6, 3) AS slowest_ms,
       argMax(step, (dur_ns, -step)) AS slowest_step,
       round(median(gpu_busy_ns) / 1e6, 3) AS gpu_busy_ms,
       round(median(exposed_comm_ns) / 1e6, 3) AS exposed_comm_ms
FROM steps
GROUP BY run, rank
ORDER BY run, rank
