-- idle time of devices by cause, over all ranks
SELECT run, cause, name,
       count(*) AS places,
       sum(count) AS gap_count,
       round(sum(idle_ns) / 1e6, 3) AS idle_ms,
       max(file) AS source_file,
       max(line) AS source_line
FROM gaps
GROUP BY run, cause, name
ORDER BY idle_ms DESC, run, cause, name
LIMIT 30
