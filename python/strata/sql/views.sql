-- Views over the tables, the same in DuckDB and ClickHouse.

-- Every collective of every rank beside the others of the same collective. All ranks leave it at the
-- same time, so the rank on which it is shortest came last, and that length is the transfer; the
-- rest is waiting. No clock is compared with another. came_before counts from the last to come, 1.
CREATE VIEW arrivals AS
SELECT run, rank, name, group_name, group_key, number, part, begin_ns, dur_ns, bytes,
       count(*) OVER same AS members,
       min(dur_ns) OVER same AS transfer_ns,
       max(dur_ns) OVER same AS longest_ns,
       argMin(rank, (dur_ns, rank)) OVER same AS last_rank,
       dur_ns - min(dur_ns) OVER same AS wait_ns,
       row_number() OVER (PARTITION BY run, group_key, number, part ORDER BY dur_ns, rank) AS came_before,
       before_compute_ns, before_copies_ns, before_sync_ns, before_data_ns, before_gc_ns,
       before_host_ns, before_launch_ns, before_idle_ns, before_kernels
FROM collectives
WINDOW same AS (PARTITION BY run, group_key, number, part);

-- One row per collective. The last rank is late by what half of its ranks or more wait for it.
CREATE VIEW matched AS
SELECT run, name, group_name, group_key, number, part, last_rank,
       max(members) AS ranks,
       max(bytes) AS largest_bytes,
       min(transfer_ns) AS moved_ns,
       max(wait_ns) AS spread_ns,
       min(CASE WHEN 2 * came_before > members THEN wait_ns END) AS late_ns
FROM arrivals
WHERE members > 1
GROUP BY run, name, group_name, group_key, number, part, last_rank;
