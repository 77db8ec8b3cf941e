-- The query average of the analysis memes, and how many posts are above that mean.
--
--   posta sql --data data/memes --questions examples/sql/memes.sql
--
-- A post without an id in its link does not count.
CREATE TABLE rows FROM 'posts.csv' (permalink TEXT, score BIGINT);
CREATE VIEW posts AS
  SELECT score FROM rows
  WHERE score IS NOT NULL AND permalink LIKE '%/comments/_%' AND permalink NOT LIKE '%/comments//%';

-- name: average
SELECT avg(score) AS average_score, count(*) AS posts FROM posts;

-- name: above
SELECT count(*) AS posts FROM posts WHERE score > (SELECT avg(score) FROM posts);
