-- The queries of the analysis memes.
--
--   posta sql --data data/memes --questions examples/sql/memes.sql
--
CREATE TABLE all_posts FROM 'posts.csv' (permalink TEXT, url TEXT, score BIGINT);
CREATE TABLE all_comments FROM 'comments.csv' (permalink TEXT, body TEXT, sentiment DOUBLE, score BIGINT);
-- A post without an id in its link does not count, and neither does its score. Of several with a url and one id the last one counts.
CREATE VIEW posts AS
  SELECT regexp_extract(permalink, '/comments/([^/?#]*)', 1) AS id, url, score FROM all_posts
  WHERE score IS NOT NULL AND regexp_extract(permalink, '/comments/([^/?#]*)', 1) <> '';
CREATE VIEW pictures AS
  SELECT id, last(url) AS url, last(score) AS score FROM posts WHERE url <> '' GROUP BY id;
-- A comment with a sentiment that is not finite does not count; one without a sentiment does.
CREATE VIEW comments AS
  SELECT regexp_extract(permalink, '/comments/([^/?#]*)', 1) AS id, body, sentiment FROM all_comments
  WHERE coalesce(abs(sentiment), 0) <= 1e308 AND body <> '' AND body NOT IN ('[deleted]', '[removed]')
    AND regexp_extract(permalink, '/comments/([^/?#]*)', 1) <> '';

-- name: average
SELECT avg(score) AS average_score, count(*) AS posts FROM posts;

-- name: students
SELECT id AS post_id, url, score FROM pictures
WHERE score > (SELECT avg(score) FROM posts)
  AND id IN (SELECT id FROM comments WHERE body ILIKE '%university%' OR body ILIKE '%college%' OR body ILIKE '%student%' OR body ILIKE '%teacher%' OR body ILIKE '%professor%')
ORDER BY id;

-- name: sentiment
SELECT p.id AS post_id, p.url AS url, c.mean AS average_sentiment, c.n AS comments
FROM (SELECT id, avg(sentiment) AS mean, count(*) AS n FROM comments WHERE sentiment IS NOT NULL GROUP BY id) c
JOIN pictures p ON p.id = c.id
ORDER BY c.mean DESC, c.n DESC, p.id
LIMIT 1;
