-- collectives by kind and group: transfer, waiting, bytes
SELECT run, name, group_name,
       count(*) AS collectives,
       max(ranks) AS group_ranks,
       sum(largest_bytes) AS total_bytes,
       round(sum(moved_ns) / 1e6, 3) AS transfer_ms,
       round(sum(late_ns) / 1e6, 3) AS late_ms,
       round(max(spread_ns) / 1e6, 3) AS widest_spread_ms
FROM matched
GROUP BY run, name, group_name
ORDER BY run, transfer_ms DESC, name, group_name
