-- The ten questions about groups of db-benchmark: https://github.com/duckdblabs/db-benchmark, which h2o.ai began. Each line is a question.
-- The benchmark makes a table of each answer, and checks it by the sums of its columns. So here the answer is counted and summed, and no
-- program has to print millions of rows.

SELECT count(*), sum(v1) FROM (SELECT id1, sum(v1) AS v1 FROM x GROUP BY id1) AS ans;
SELECT count(*), sum(v1) FROM (SELECT id1, id2, sum(v1) AS v1 FROM x GROUP BY id1, id2) AS ans;
SELECT count(*), sum(v1), sum(v3) FROM (SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM x GROUP BY id3) AS ans;
SELECT count(*), sum(v1), sum(v2), sum(v3) FROM (SELECT id4, avg(v1) AS v1, avg(v2) AS v2, avg(v3) AS v3 FROM x GROUP BY id4) AS ans;
SELECT count(*), sum(v1), sum(v2), sum(v3) FROM (SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM x GROUP BY id6) AS ans;
SELECT count(*), sum(median_v3), sum(sd_v3) FROM (SELECT id4, id5, quantile_cont(v3, 0.5) AS median_v3, stddev(v3) AS sd_v3 FROM x GROUP BY id4, id5) AS ans;
SELECT count(*), sum(range_v1_v2) FROM (SELECT id3, max(v1) - min(v2) AS range_v1_v2 FROM x GROUP BY id3) AS ans;
SELECT count(*), sum(largest2_v3) FROM (SELECT id6, v3 AS largest2_v3 FROM (SELECT id6, v3, row_number() OVER (PARTITION BY id6 ORDER BY v3 DESC) AS order_v3 FROM x WHERE v3 IS NOT NULL) sub_query WHERE order_v3 <= 2) AS ans;
SELECT count(*), sum(r2) FROM (SELECT id2, id4, pow(corr(v1, v2), 2) AS r2 FROM x GROUP BY id2, id4) AS ans;
SELECT count(*), sum(v3), sum(count) FROM (SELECT id1, id2, id3, id4, id5, id6, sum(v3) AS v3, count(*) AS count FROM x GROUP BY id1, id2, id3, id4, id5, id6) AS ans;
