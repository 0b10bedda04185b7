-- kernels by time over all ranks
SELECT short_name, family,
       count(*) AS ranks,
       sum(calls) AS all_calls,
       round(sum(total_ns) / 1e6, 3) AS total_ms,
       round(median(median_ns) / 1e3, 2) AS median_us,
       round(max(p95_ns) / 1e3, 2) AS worst_p95_us
FROM kernels
GROUP BY short_name, family
ORDER BY total_ms DESC, short_name
LIMIT 30
