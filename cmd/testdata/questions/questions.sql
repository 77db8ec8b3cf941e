-- name: q0
SELECT "Customer.Name", count(*) AS n FROM orders GROUP BY "Customer.Name" ORDER BY n DESC, "Customer.Name";
-- name: q1
SELECT sum("Unit Price" * "Qty.") AS revenue FROM orders;
-- name: q2
SELECT "Ship Country" AS country, round(avg("Unit Price"), 2) AS price FROM orders WHERE "Ship Country" IS NOT NULL GROUP BY 1 ORDER BY 1;
-- name: q3
SELECT date_trunc('month', "Order Date") AS m, count(*) FROM orders GROUP BY m ORDER BY m;
-- name: q4
SELECT "Order ID", "Unit Price" FROM orders ORDER BY "Unit Price" DESC, "Order ID" LIMIT 3;
-- name: q5
SELECT o."Customer.Name" FROM orders o WHERE o."Qty." IS NULL AND o."select" = 'y' ORDER BY "order id";
-- name: q6
SELECT "Customer.Name", sum("Qty.") FILTER (WHERE "select" = 'y') AS yes, sum("Qty.") FILTER (WHERE "select" <> 'y') AS no FROM orders GROUP BY ALL ORDER BY ALL;
-- name: q7
SELECT "Order ID" FROM (SELECT *, row_number() OVER (PARTITION BY "Ship Country" ORDER BY "Unit Price" DESC, "Order ID") AS rn FROM orders) t WHERE rn = 1 ORDER BY 1;
-- name: q8
SELECT COALESCE("Ship Country", 'unknown') country, COUNT(DISTINCT "Customer.Name") customers FROM orders GROUP BY country HAVING count(*) > 5 ORDER BY country;
-- name: q9
SELECT CASE WHEN "Unit Price" < 25 THEN 'cheap' WHEN "Unit Price" < 75 THEN 'mid' ELSE 'dear' END AS class, min("Order Date"), max("Order Date") FROM orders GROUP BY class ORDER BY class;
-- name: q10
SELECT count(*), count(c199), sum(c001) FROM wide;
-- name: q11
SELECT sensor, avg(c002) AS a FROM wide GROUP BY sensor ORDER BY sensor;
-- name: q12
SELECT * FROM wide WHERE sensor = 's3' LIMIT 2;
-- name: q13
SELECT * EXCLUDE (c001, c002) FROM wide LIMIT 1;
-- name: q14
SELECT max(greatest(c001, c003, c005)) FROM wide;
-- name: q15
SELECT w.sensor, w.c100 FROM wide w JOIN (SELECT sensor, max(c100) m FROM wide GROUP BY sensor) x ON w.sensor = x.sensor AND w.c100 = x.m ORDER BY 1, 2;
-- name: q17
SELECT median(c010), quantile_cont(c010, 0.25) FROM wide;
-- name: q18
SELECT sum(c001 + c003 + c005 + c007) AS s, sum(coalesce(c001,0) + coalesce(c003,0)) AS t FROM wide;
-- name: q19
SELECT DISTINCT sensor FROM wide WHERE c050 BETWEEN -10 AND 10 OR c060 IS NULL ORDER BY sensor DESC;
-- name: q20
SELECT year(iso) AS y, month(iso) AS m, count(*) FROM events GROUP BY y, m ORDER BY y, m;
-- name: q21
SELECT strptime(us, '%m/%d/%Y')::DATE AS d, count(*) n FROM events GROUP BY d HAVING n > 1 ORDER BY d;
-- name: q22
SELECT id FROM events WHERE CAST(strptime(german, '%d.%m.%Y %H:%M') AS DATE) <> CAST(iso AS DATE);
-- name: q24
SELECT date_diff('day', min(iso), max(iso)) FROM events;
-- name: q25
SELECT kind, sum(amount), avg(amount) FROM events WHERE iso >= '2023-06-01' AND iso < DATE '2024-01-01' GROUP BY kind ORDER BY kind;
-- name: q26
SELECT extract(dow FROM iso) AS dow, strftime(iso, '%A') AS name, count(*) FROM events GROUP BY 1, 2 ORDER BY 1;
-- name: q27
SELECT id, iso, lag(iso) OVER (ORDER BY iso, id) AS before FROM events ORDER BY iso, id LIMIT 3;
-- name: q28
SELECT count(*) FROM events WHERE iso > TIMESTAMP '2023-12-31 23:59:59' - INTERVAL '90 days' AND hour(iso) < 12;
-- name: q29
SELECT kind, amount, sum(amount) OVER (PARTITION BY kind ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running FROM events ORDER BY kind, id LIMIT 6;
-- name: q30
SELECT count(*) FROM reviews WHERE text LIKE '%line one%';
-- name: q31
SELECT count(*) FROM reviews WHERE text LIKE '%
%';
-- name: q32
SELECT author, avg(stars)::DECIMAL(4,2) AS s FROM reviews GROUP BY author ORDER BY s DESC, author;
-- name: q33
SELECT id, length(text), text FROM reviews ORDER BY length(text) DESC, id LIMIT 3;
-- name: q34
SELECT stars, string_agg(author, ',' ORDER BY id) FROM reviews WHERE id <= 20 GROUP BY stars ORDER BY stars;
-- name: q35
SELECT count(*) FROM reviews WHERE text ILIKE '%GREAT%' AND text NOT LIKE '%bad%';
-- name: q36
SELECT regexp_extract(text, '"([a-z]+)"', 1) AS w, count(*) FROM reviews GROUP BY w ORDER BY w;
-- name: q37
SELECT replace(replace(text, chr(13), ''), chr(10), ' / ') AS flat FROM reviews WHERE text LIKE '%windows%' ORDER BY id LIMIT 2;
-- name: q39
SELECT author, stars, count(*) * 100.0 / sum(count(*)) OVER (PARTITION BY author) AS pct FROM reviews GROUP BY author, stars ORDER BY author, stars LIMIT 4;
-- name: q40
SELECT payload->'user'->>'name' AS name, count(*) FROM log GROUP BY name ORDER BY name;
-- name: q41
SELECT avg((payload->>'ms')::DOUBLE) FROM log WHERE level = 'error';
-- name: q42
SELECT payload->>'$.user.id' AS id, max((payload->>'$.ms')::double) AS m FROM log WHERE payload IS NOT NULL GROUP BY 1 ORDER BY 1;
-- name: q43
SELECT count(*) FROM log WHERE payload->>'ms' IS NULL;
-- name: q44
SELECT level, count(*) AS n, round(100.0 * count(*) / (SELECT count(*) FROM log), 1) AS pct FROM log GROUP BY level ORDER BY n DESC, level;
-- name: q45
SELECT json_extract_string(payload, '$.tags[0]') AS t, count(*) FROM log GROUP BY t ORDER BY t NULLS FIRST;
-- name: q47
SELECT time_bucket(INTERVAL '6 hours', ts) AS b, count(*) FROM log GROUP BY b ORDER BY b;
-- name: q48
SELECT CAST(payload->'user'->'id' AS INTEGER) AS uid, count(*) FROM log GROUP BY uid ORDER BY uid LIMIT 2;
-- name: q49
SELECT l.level, a.n FROM log l LEFT JOIN (SELECT level, count(*) AS n FROM log WHERE payload LIKE '%"x"%' GROUP BY level) a USING (level) GROUP BY l.level, a.n ORDER BY level;
