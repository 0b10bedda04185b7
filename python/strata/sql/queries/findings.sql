-- what is wrong, on how many ranks, and what fixing it gains there
SELECT run, rule, title, subject, file, line,
       count(*) AS ranks,
       round(median(gain_pct), 2) AS median_gain_pct,
       round(max(gain_pct), 2) AS most_gain_pct,
       argMax(rank, (gain_ns, -rank)) AS worst_rank
FROM findings
GROUP BY run, rule, title, subject, file, line
ORDER BY run, ranks DESC, most_gain_pct DESC, rule, title, subject
LIMIT 50
