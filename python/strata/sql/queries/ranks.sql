-- where the time of each rank goes
SELECT run, rank, host,
       round(wall_ns / 1e6, 3) AS wall_ms,
       round(compute_ns / 1e6, 3) AS compute_ms,
       round(comm_ns / 1e6, 3) AS comm_ms,
       round(exposed_comm_ns / 1e6, 3) AS exposed_comm_ms,
       round(exposed_comm_ns * 100.0 / nullif(wall_ns, 0), 2) AS exposed_comm_pct,
       round(idle_ns / 1e6, 3) AS idle_ms,
       n_steps,
       round(step_ns / 1e6, 3) AS step_ms
FROM runs
ORDER BY run, rank
