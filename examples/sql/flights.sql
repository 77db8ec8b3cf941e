-- Queries of the analysis flights.
--
--   posta sql --data data/flights --questions examples/sql/flights.sql
--
CREATE TABLE itineraries FROM 'itineraries.csv' (legId TEXT, startingAirport TEXT, destinationAirport TEXT, travelDuration TEXT, totalFare DECIMAL(18, 6),
  totalTravelDistance TEXT, segmentsArrivalAirportCode TEXT);
CREATE TABLE places FROM 'airports-codepublic.csv' ("Airport Code" TEXT, Latitude DOUBLE, Longitude DOUBLE) WITH (delim ';');
CREATE VIEW airports AS
  SELECT "Airport Code" AS code, last(Latitude) AS lat, last(Longitude) AS lon FROM places
  WHERE "Airport Code" <> '' AND abs(Latitude) <= 90 AND abs(Longitude) <= 360
  GROUP BY 1;
-- A row that lacks one of the columns that the analysis needs counts in none of its queries. A fare is in whole cents. A distance may be empty,
-- but not another text.
CREATE VIEW legs AS
  SELECT _line AS row, legId AS leg_id, startingAirport AS start, destinationAirport AS destination,
         startingAirport || '-' || destinationAirport AS journey, startingAirport || '||' || segmentsArrivalAirportCode AS route,
         len(string_split(segmentsArrivalAirportCode, '||')) - 1 AS stopovers, totalFare::DECIMAL(18, 2) AS fare, iso_minutes(travelDuration) AS minutes,
         TRY_CAST(totalTravelDistance AS DOUBLE) AS told
  FROM itineraries
  WHERE legId <> '' AND startingAirport <> '' AND destinationAirport <> '' AND iso_minutes(travelDuration) IS NOT NULL AND totalFare = totalFare::DECIMAL(18, 2)
    AND segmentsArrivalAirportCode <> '' AND NOT list_contains(string_split(segmentsArrivalAirportCode, '||'), '')
    AND (coalesce(totalTravelDistance, '') = '' OR abs(TRY_CAST(totalTravelDistance AS DOUBLE)) <= 1e308);

-- name: stopovers
SELECT leg_id, route, fare::DOUBLE AS total_fare, stopovers FROM legs WHERE stopovers >= 3 ORDER BY ALL;

-- name: fastest
WITH one AS (
  SELECT journey, leg_id, route, stopovers, minutes AS duration_min
  FROM (SELECT DISTINCT journey, leg_id, route, stopovers, minutes FROM legs WHERE stopovers >= 3)
  QUALIFY row_number() OVER (PARTITION BY journey, leg_id ORDER BY minutes, route, stopovers) = 1
)
SELECT * FROM one
QUALIFY row_number() OVER (PARTITION BY journey ORDER BY duration_min, leg_id) <= 2
ORDER BY journey, duration_min, leg_id;

-- name: fares
SELECT journey, avg(fare) AS average_fare, max(fare)::DOUBLE AS max_fare, count(*) AS flights
FROM legs
WHERE fare > (SELECT avg(fare) FROM legs WHERE fare > 0)
GROUP BY journey
ORDER BY journey;

-- name: detours
-- Each pair of airports along a route is a hop, up to 20 of them.
WITH hops AS (
  SELECT r.row AS row, len(string_split(r.route, '||')) - 1 AS hops, string_split(r.route, '||')[h.i] AS here, string_split(r.route, '||')[h.i + 1] AS next
  FROM legs r CROSS JOIN (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16), (17), (18), (19), (20)) AS h(i)
  WHERE coalesce(r.told, 0) <= 0 AND h.i < len(string_split(r.route, '||'))
), ways AS (
  SELECT h.row AS row, sum(haversine_km(a.lat, a.lon, b.lat, b.lon)) / 1.609344 AS miles
  FROM hops h JOIN airports a ON a.code = h.here JOIN airports b ON b.code = h.next
  GROUP BY h.row, h.hops
  HAVING count(*) = h.hops
), distances AS (
  SELECT r.leg_id AS leg_id, r.route AS route, CASE WHEN r.told > 0 THEN r.told ELSE w.miles END AS total_distance_mi,
         haversine_km(a.lat, a.lon, b.lat, b.lon) / 1.609344 AS direct_distance_mi
  FROM legs r
  JOIN airports a ON a.code = r.start
  JOIN airports b ON b.code = r.destination
  LEFT JOIN ways w ON w.row = r.row
)
SELECT * FROM distances WHERE total_distance_mi > 4 * direct_distance_mi ORDER BY ALL;
