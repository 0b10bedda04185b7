-- steps that take over 1.2 times the median of their rank
WITH usual AS (SELECT run, rank, median(dur_ns) AS usual_ns FROM steps GROUP BY run, rank)
SELECT s.run AS run, s.rank AS rank, s.step AS step,
       round(s.dur_ns / 1e6, 3) AS step_ms,
       round(s.dur_ns / u.usual_ns, 2) AS times_median,
       round(s.blocked_ns / 1e6, 3) AS blocked_ms,
       round(s.gpu_idle_ns / 1e6, 3) AS gpu_idle_ms
FROM steps AS s
JOIN usual AS u ON s.run = u.run AND s.rank = u.rank
WHERE s.dur_ns > 1.2 * u.usual_ns
ORDER BY times_median DESC, run, rank, step
LIMIT 50
