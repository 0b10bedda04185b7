-- who keeps the others waiting, and what it did meanwhile that others did not
-- late_ms: what half of the ranks or more wait for it, in start-up too. The columns more_* compare what the
-- rank did before those collectives with the median of their ranks.
WITH typical AS (
    SELECT run, group_key, number, part,
           median(before_compute_ns) AS compute, median(before_copies_ns) AS copies,
           median(before_sync_ns) AS sync, median(before_data_ns) AS data,
           median(before_gc_ns) AS gc, median(before_host_ns) AS host,
           median(before_launch_ns) AS launch, min(CASE WHEN 2 * came_before > members THEN wait_ns END) AS late
    FROM arrivals
    WHERE members > 1
    GROUP BY run, group_key, number, part
)
SELECT a.run AS run, a.rank AS rank,
       round(sum(t.late) / 1e6, 3) AS late_ms,
       count(*) AS collectives,
       round(sum(a.before_compute_ns - t.compute) / 1e6, 3) AS more_compute_ms,
       round(sum(a.before_copies_ns - t.copies) / 1e6, 3) AS more_copies_ms,
       round(sum(a.before_sync_ns - t.sync) / 1e6, 3) AS more_sync_ms,
       round(sum(a.before_data_ns - t.data) / 1e6, 3) AS more_data_ms,
       round(sum(a.before_gc_ns - t.gc) / 1e6, 3) AS more_gc_ms,
       round(sum(a.before_host_ns - t.host) / 1e6, 3) AS more_host_ms,
       round(sum(a.before_launch_ns - t.launch) / 1e6, 3) AS more_launch_ms
FROM arrivals AS a
JOIN typical AS t
  ON a.run = t.run AND a.group_key = t.group_key AND a.number = t.number AND a.part = t.part
WHERE a.rank = a.last_rank AND a.members > 1 AND t.late > 0
GROUP BY a.run, a.rank
ORDER BY run, late_ms DESC, rank
