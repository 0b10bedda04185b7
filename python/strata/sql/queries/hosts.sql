-- hosts side by side: a slow node shows as one with little waiting and much compute
SELECT run, coalesce(host, '') AS host_name,
       count(*) AS ranks,
       round(median(compute_ns) / 1e6, 3) AS compute_ms,
       round(median(comm_ns) / 1e6, 3) AS comm_ms,
       round(median(idle_ns) / 1e6, 3) AS idle_ms,
       round(median(step_ns) / 1e6, 3) AS step_ms
FROM runs
GROUP BY run, coalesce(host, '')
ORDER BY run, host_name
