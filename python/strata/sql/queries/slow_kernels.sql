-- kernels that take longer on one rank than on the others: a slow clock, a slow device, other shapes
WITH usual AS (
    SELECT run, name, median(total_ns / calls) AS usual_ns, count(*) AS ranks
    FROM kernels
    WHERE calls > 0
    GROUP BY run, name
)
SELECT k.run AS run, k.rank AS rank, k.short_name AS kernel, k.calls AS calls,
       round(k.total_ns / k.calls / 1e3, 2) AS mean_us,
       round(u.usual_ns / 1e3, 2) AS elsewhere_us,
       round((k.total_ns - u.usual_ns * k.calls) / 1e6, 3) AS more_ms
FROM kernels AS k
JOIN usual AS u ON k.run = u.run AND k.name = u.name
WHERE u.ranks > 2 AND k.calls > 0 AND k.total_ns > 1.1 * u.usual_ns * k.calls AND k.family != 'communication'
ORDER BY more_ms DESC, run, rank, kernel
LIMIT 30
