-- waits of the CPU for a device, by source line, over all ranks
SELECT run, call, kind, file, line, function,
       count(*) AS ranks,
       sum(count) AS waits,
       round(sum(blocked_ns) / 1e6, 3) AS blocked_ms,
       round(sum(exposed_ns) / 1e6, 3) AS exposed_ms
FROM syncs
GROUP BY run, call, kind, file, line, function
ORDER BY exposed_ms DESC, blocked_ms DESC, run, call, kind
LIMIT 30
