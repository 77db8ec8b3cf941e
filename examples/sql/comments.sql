-- The queries students and sentiment of the analysis memes; memes.sql has the third.
--
--   posta sql --data data/memes --questions examples/sql/comments.sql
--
CREATE TABLE all_posts FROM 'posts.csv' (permalink TEXT, url TEXT, score BIGINT);
CREATE TABLE all_comments FROM 'comments.csv' (permalink TEXT, body TEXT, sentiment DOUBLE, score BIGINT);
CREATE VIEW posts AS
  SELECT regexp_extract(permalink, '/comments/([^/?#]*)', 1) AS id, url, score FROM all_posts
  WHERE regexp_extract(permalink, '/comments/([^/?#]*)', 1) <> '' AND score IS NOT NULL;
CREATE VIEW comments AS
  SELECT regexp_extract(permalink, '/comments/([^/?#]*)', 1) AS id, body, sentiment FROM all_comments
  WHERE body <> '' AND body NOT IN ('[deleted]', '[removed]') AND regexp_extract(permalink, '/comments/([^/?#]*)', 1) <> '';

-- name: students
SELECT id AS post_id, url, score FROM posts
WHERE url <> '' AND score > (SELECT avg(score) FROM posts)
  AND id IN (SELECT id FROM comments WHERE body ILIKE '%university%' OR body ILIKE '%college%' OR body ILIKE '%student%' OR body ILIKE '%teacher%' OR body ILIKE '%professor%')
ORDER BY id;

-- name: sentiment
SELECT p.id AS post_id, p.url AS url, c.mean AS average_sentiment, c.n AS comments
FROM (SELECT id, avg(sentiment) AS mean, count(*) AS n FROM comments WHERE abs(sentiment) <= 1e308 GROUP BY id) c
JOIN posts p ON p.id = c.id
WHERE p.url <> ''
ORDER BY c.mean DESC, c.n DESC, p.id
LIMIT 1;
