-- stages over all ranks, and the rank that takes longest
SELECT run, stage,
       count(*) AS ranks,
       round(median(cpu_ns) / 1e6, 3) AS cpu_ms,
       round(max(cpu_ns) / 1e6, 3) AS slowest_cpu_ms,
       argMax(rank, (cpu_ns, -rank)) AS slowest_rank,
       round(median(gpu_ns) / 1e6, 3) AS gpu_median_ms,
       round(max(gpu_ns) / 1e6, 3) AS gpu_most_ms
FROM stages
GROUP BY run, stage
ORDER BY run, cpu_ms DESC, stage
LIMIT 50
