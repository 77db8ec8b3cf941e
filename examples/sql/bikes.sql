-- The queries of the analysis bikes.
--
--   posta sql --data data/bikes --questions examples/sql/bikes.sql
--
-- A row without one of the columns that the analysis needs counts in none of its queries, so it is left out here, too.
CREATE TABLE weather FROM '{city}/weather.csv' (date DATE, prectot DOUBLE);
CREATE TABLE stations FROM '{city}/stations.csv' (code TEXT, name TEXT, latitude DOUBLE, longitude DOUBLE, yearid BIGINT);
CREATE TABLE trips FROM '{city}/trips.csv' (start_date TIMESTAMP, start_station_code TEXT, end_station_code TEXT, duration_sec DOUBLE, yearid BIGINT);
CREATE VIEW rides AS
  SELECT * FROM trips
  WHERE start_date IS NOT NULL AND start_station_code <> '' AND end_station_code <> '' AND duration_sec IS NOT NULL AND yearid IS NOT NULL;
-- Of a station that is written down more than once the last row counts.
CREATE VIEW places AS
  SELECT city, code, yearid, last(name) AS name, last(latitude) AS lat, last(longitude) AS lon
  FROM stations
  WHERE code <> '' AND name <> '' AND yearid IS NOT NULL
    AND coalesce(abs(latitude), 0) <= 90 AND coalesce(abs(longitude), 0) <= 360
  GROUP BY city, code, yearid;

-- name: rain
SELECT r.start_date::DATE AS date, avg(greatest(r.duration_sec, 0)) AS average_duration_sec, count(*) AS trips
FROM rides r
JOIN (SELECT DISTINCT city, date - 1 AS day FROM weather WHERE prectot > 30) w ON w.city = r.city AND w.day = r.start_date::DATE
GROUP BY 1
ORDER BY 1;

-- name: doubled
WITH started AS (
  SELECT city, start_station_code AS code, yearid, count(*) AS n
  FROM rides
  WHERE yearid IN (2016, 2017)
  GROUP BY city, start_station_code, yearid
)
SELECT r.city AS city, s.name AS station,
       sum(n) FILTER (WHERE r.yearid = 2016) AS trips_2016,
       sum(n) FILTER (WHERE r.yearid = 2017) AS trips_2017
FROM started r JOIN places s ON s.city = r.city AND s.code = r.code AND s.yearid = r.yearid
GROUP BY r.city, s.name
HAVING sum(n) FILTER (WHERE r.yearid = 2017) >= 2 * sum(n) FILTER (WHERE r.yearid = 2016)
ORDER BY 1, 2;

-- name: far
SELECT e.name AS station, avg(haversine_km(s.lat, s.lon, e.lat, e.lon)) AS average_km, count(*) AS trips
FROM rides r
JOIN places s ON s.city = r.city AND s.code = r.start_station_code AND s.yearid = r.yearid
JOIN places e ON e.city = r.city AND e.code = r.end_station_code AND e.yearid = r.yearid
WHERE r.city = 'montreal' AND s.lat IS NOT NULL AND s.lon IS NOT NULL AND e.lat IS NOT NULL AND e.lon IS NOT NULL
GROUP BY e.name
HAVING avg(haversine_km(s.lat, s.lon, e.lat, e.lon)) > 6
ORDER BY 1;
