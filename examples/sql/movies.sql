-- Queries of the analysis movies.
--
--   posta sql --data data/movies --questions examples/sql/movies.sql
--
CREATE TABLE metadata FROM 'movies_metadata.csv' (id BIGINT, release_date DATE, budget DOUBLE, revenue DOUBLE, title TEXT, overview TEXT, genres TEXT, production_countries TEXT);
CREATE TABLE credits FROM 'credits.csv' ("cast" TEXT, id BIGINT);
CREATE TABLE ratings FROM 'ratings.csv' (movieId BIGINT, rating DOUBLE);
-- A movie without one of the columns that the analysis needs does not count: inf and nan are no numbers there. And of several with one id the first row does.
CREATE VIEW movies AS
  SELECT id, first(release_date) AS released, first(budget) AS budget, first(revenue) AS revenue, first(title) AS title, first(overview) AS overview,
         first(genres) AS genres, first(production_countries) AS countries
  FROM metadata
  WHERE id IS NOT NULL AND release_date IS NOT NULL AND abs(budget) <= 1e308 AND abs(revenue) <= 1e308 AND (budget <= 0 OR revenue <= 0 OR revenue / budget <= 1e308)
    AND title <> '' AND overview <> ''
    AND python_list(genres, 'name') IS NOT NULL AND python_list(production_countries, 'name') IS NOT NULL
  GROUP BY id;

-- name: coproductions
SELECT id AS movie_id, title, array_to_string(python_list(genres, 'name'), ', ') AS genres FROM movies
WHERE list_contains(python_list(countries, 'name'), 'Argentina') AND list_contains(python_list(countries, 'name'), 'Spain') AND year(released) BETWEEN 2000 AND 2009
ORDER BY id;

-- name: budgets
SELECT python_list(countries, 'name')[1] AS country, sum(budget) AS budget FROM movies
WHERE len(python_list(countries, 'name')) = 1
GROUP BY 1
ORDER BY budget DESC, country
LIMIT 5;

-- name: ratings
WITH means AS (
  SELECT m.id AS movie_id, m.title AS title, avg(r.rating) AS average_rating, count(*) AS ratings
  FROM movies m JOIN ratings r ON r.movieId = m.id
  WHERE list_contains(python_list(m.countries, 'name'), 'Argentina') AND year(m.released) >= 2000 AND abs(r.rating) <= 1e308
  GROUP BY m.id, m.title
), ranked AS (
  SELECT *, row_number() OVER (ORDER BY average_rating DESC, movie_id) AS up, row_number() OVER (ORDER BY average_rating, movie_id) AS down FROM means
)
SELECT 'best' AS rank, movie_id, title, average_rating, ratings FROM ranked WHERE up = 1
UNION ALL
SELECT 'worst' AS rank, movie_id, title, average_rating, ratings FROM ranked WHERE down = 1
ORDER BY rank;

-- name: actors
SELECT min(name) AS actor, count(DISTINCT movie) AS movies
FROM (
  SELECT m.id AS movie, unnest(python_list(c."cast", 'id'))::BIGINT AS person, unnest(python_list(c."cast", 'name')) AS name
  FROM credits c JOIN movies m ON m.id = c.id
  WHERE list_contains(python_list(m.countries, 'name'), 'Argentina') AND year(m.released) >= 2000
    AND python_list(c."cast", 'id') IS NOT NULL AND python_list(c."cast", 'name') IS NOT NULL
)
GROUP BY person
ORDER BY movies DESC, actor, person
LIMIT 10;

-- name: sentiment
SELECT CASE WHEN score >= 0.05 THEN 'POSITIVE' ELSE 'NEGATIVE' END AS sentiment, avg(revenue / budget) AS average_revenue_to_budget, count(*) AS movies
FROM (SELECT vader(overview) AS score, revenue, budget FROM movies WHERE budget > 0 AND revenue > 0)
WHERE score >= 0.05 OR score <= -0.05
GROUP BY 1
ORDER BY 1;
