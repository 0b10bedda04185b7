-- collectives that only one rank has: ranks are missing, or ran something else
SELECT run, rank, name, group_name, count(*) AS collectives
FROM arrivals
WHERE members = 1
GROUP BY run, rank, name, group_name
ORDER BY run, rank, name, group_name
