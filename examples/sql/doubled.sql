-- The query doubled of the analysis bikes: stations where at least twice as many trips started in 2017 as in 2016.
--
--   posta sql --data data/bikes --questions examples/sql/doubled.sql
--
-- A row without one of the columns that the analysis needs counts in none of its queries, so it is left out here, too. Of a station that is written
-- down more than once the last row counts.
CREATE TABLE trips FROM '{city}/trips.csv' (start_date TIMESTAMP, start_station_code TEXT, end_station_code TEXT, duration_sec DOUBLE, yearid BIGINT);
CREATE TABLE stations FROM '{city}/stations.csv' (code TEXT, name TEXT, yearid BIGINT);

-- name: doubled
WITH rides AS (
  SELECT city, start_station_code AS code, yearid, count(*) AS n
  FROM trips
  WHERE yearid IN (2016, 2017) AND start_date IS NOT NULL AND duration_sec IS NOT NULL AND start_station_code IS NOT NULL AND end_station_code IS NOT NULL
  GROUP BY city, start_station_code, yearid
), named AS (
  SELECT city, code, yearid, last(name) AS name
  FROM stations
  WHERE yearid IN (2016, 2017)
  GROUP BY city, code, yearid
)
SELECT r.city AS city, s.name AS station,
       sum(n) FILTER (WHERE r.yearid = 2016) AS trips_2016,
       sum(n) FILTER (WHERE r.yearid = 2017) AS trips_2017
FROM rides r JOIN named s ON s.city = r.city AND s.code = r.code AND s.yearid = r.yearid
GROUP BY r.city, s.name
HAVING sum(n) FILTER (WHERE r.yearid = 2017) >= 2 * sum(n) FILTER (WHERE r.yearid = 2016)
ORDER BY 1, 2;
