package main

import (
	"math/big"

	"posta.dev/posta/analyses/answer"
)

// flights reads the itineraries once, into a table that has only journey and fare of most rows, and everything of the few
// with enough stopovers or a detour. Rejected: a second scan instead of the table, and a table of whole rows. Both took more
// CPU time.
func flights(e *engine) ([]answer.Query, error) {
	err := e.views(
		table{"airports", "airports-codepublic.csv", ';',
			columns{{"Airport Code", "VARCHAR"}, {"Latitude", "DOUBLE"}, {"Longitude", "DOUBLE"}}},
		table{"itineraries", "itineraries.csv", ',', columns{{"legId", "VARCHAR"}, {"startingAirport", "VARCHAR"},
			{"destinationAirport", "VARCHAR"}, {"travelDuration", "VARCHAR"}, {"totalFare", "VARCHAR"},
			{"totalTravelDistance", "DOUBLE"}, {"segmentsArrivalAirportCode", "VARCHAR"}}},
	)
	for _, s := range []struct{ what, text string }{
		{"macros", flightsMacros}, {"airports", flightsAirports}, {"itineraries", flightsItineraries},
	} {
		if err == nil {
			err = e.exec(s.what, s.text)
		}
	}
	stopovers := answer.Query{Name: "stopovers", Columns: []string{"leg_id", "route", "total_fare", "stopovers"}}
	if err == nil {
		err = e.rows("stopovers", flightsStopovers, func(scan func(...any) error) error {
			var leg, route string
			var cents, n int64
			err := scan(&leg, &route, &cents, &n)
			stopovers.Rows = append(stopovers.Rows, []any{leg, route, dollars(big.NewInt(cents), 1), n})
			return err
		})
	}
	detours := answer.Query{Name: "detours", Columns: []string{"leg_id", "route", "total_distance_mi", "direct_distance_mi"}}
	if err == nil {
		err = e.rows("detours", flightsDetours, func(scan func(...any) error) error {
			var leg, route string
			var total, direct float64
			err := scan(&leg, &route, &total, &direct)
			detours.Rows = append(detours.Rows, []any{leg, route, total, direct})
			return err
		})
	}
	fastest := answer.Query{Name: "fastest", Columns: []string{"journey", "leg_id", "route", "stopovers", "duration_min"}}
	if err == nil {
		err = e.rows("fastest", flightsFastest, func(scan func(...any) error) error {
			var journey, leg, route string
			var n, minutes int64
			err := scan(&journey, &leg, &route, &n, &minutes)
			fastest.Rows = append(fastest.Rows, []any{journey, leg, route, n, minutes})
			return err
		})
	}
	fares := answer.Query{Name: "fares", Columns: []string{"journey", "average_fare", "max_fare", "flights"}}
	if err == nil {
		err = e.rows("fares", flightsFares, func(scan func(...any) error) error {
			var journey string
			var sum *big.Int
			var most, n int64
			err := scan(&journey, &sum, &most, &n)
			if err == nil {
				fares.Rows = append(fares.Rows, []any{journey, dollars(sum, n), dollars(big.NewInt(most), 1), n})
			}
			return err
		})
	}
	return []answer.Query{stopovers, detours, fastest, fares}, err
}

// dollars returns the float64 nearest to an amount of cents divided by n.
func dollars(cents *big.Int, n int64) float64 {
	f, _ := new(big.Rat).SetFrac(cents, big.NewInt(100*n)).Float64()
	return f
}

const (
	// Haversine of two places in radians, in miles. Codes are ASCII, so strlen counts letters.
	flightsMacros = `
		CREATE TEMP MACRO miles(lat1, lon1, lat2, lon2) AS 2 * 6371.0088::DOUBLE * asin(least(1, sqrt(
			sin((lat2 - lat1) / 2) * sin((lat2 - lat1) / 2)
			+ cos(lat1) * cos(lat2) * (sin((lon2 - lon1) / 2) * sin((lon2 - lon1) / 2))))) / 1.609344::DOUBLE;
		CREATE TEMP MACRO stops(arrivals) AS (strlen(arrivals) - strlen(replace(arrivals, '||', ''))) // 2;
		CREATE TEMP MACRO amount(text, pattern) AS coalesce(TRY_CAST(regexp_extract(text, pattern, 1) AS BIGINT), 0);
		CREATE TEMP MACRO minutes(text) AS amount(text, '(\d+)D') * 1440 + amount(text, '(\d+)H') * 60 + amount(text, '(\d+)M');`

	flightsAirports = `CREATE TEMP TABLE place AS
		SELECT code, latest.lat AS lat, latest.lon AS lon FROM (
			SELECT "Airport Code" AS code, arg_max({lat: Latitude * pi() / 180, lon: Longitude * pi() / 180}, n) AS latest
			FROM (SELECT *, row_number() OVER () AS n FROM airports)
			WHERE code IS NOT NULL AND abs(Latitude) <= 90 AND abs(Longitude) <= 360
			GROUP BY code)`

	// Only digits make an amount of money, and whole cents: DuckDB would also read an exponent, or round.
	flightsItineraries = `CREATE TEMP TABLE fare AS
		WITH given AS (
			SELECT legId, startingAirport AS start, destinationAirport AS stop, travelDuration, segmentsArrivalAirportCode AS arrivals,
				CASE WHEN NOT contains(totalFare, 'e') AND NOT contains(totalFare, 'E')
					THEN TRY_CAST(totalFare AS DOUBLE) END AS fare,
				totalTravelDistance AS given
			FROM itineraries
			WHERE legId IS NOT NULL AND start IS NOT NULL AND stop IS NOT NULL AND coalesce(isfinite(given), true)
				AND regexp_full_match(travelDuration, 'P(\d{1,9}D)?(T(\d{1,9}H)?(\d{1,9}M)?)?')
				AND travelDuration <> 'P' AND NOT ends_with(travelDuration, 'T')
				AND NOT contains(arrivals, '||||') AND NOT starts_with(arrivals, '||') AND NOT ends_with(arrivals, '||')),
		known AS (
			SELECT g.*, a.lat IS NOT NULL AND b.lat IS NOT NULL AS known, miles(a.lat, a.lon, b.lat, b.lon) AS direct
			FROM given g LEFT JOIN place a ON start = a.code LEFT JOIN place b ON stop = b.code
			WHERE round(fare * 100) / 100 = fare),
		judged AS (
			SELECT *, stops(arrivals) >= 3 AS stopover,
				known AND CASE WHEN given > 0 THEN given > 4 * direct ELSE true END AS detour FROM known)
		SELECT start, stop, round(fare * 100)::BIGINT AS cents, stopover, detour,
			CASE WHEN stopover OR detour THEN legId END AS leg,
			CASE WHEN stopover OR detour THEN arrivals END AS arrivals,
			CASE WHEN stopover THEN travelDuration END AS duration,
			CASE WHEN detour AND given > 0 THEN given END AS given,
			CASE WHEN detour THEN direct END AS direct
		FROM judged`

	flightsStopovers = `SELECT leg, start || '||' || arrivals AS route, cents, stops(arrivals) AS n FROM fare WHERE stopover ORDER BY ALL`

	// A missing distance is the sum of the hops along the route.
	flightsDetours = `
		WITH routes AS (SELECT DISTINCT start, arrivals FROM fare WHERE detour AND given IS NULL),
		hops AS (
			SELECT start, arrivals, i, CASE i WHEN 1 THEN start ELSE codes[i - 1] END AS here, codes[i] AS there
			FROM (SELECT *, generate_subscripts(codes, 1) AS i FROM (SELECT *, string_split(arrivals, '||') AS codes FROM routes))),
		legs AS (
			SELECT start, arrivals, i, CASE WHEN a.lat IS NOT NULL AND b.lat IS NOT NULL THEN miles(a.lat, a.lon, b.lat, b.lon) END AS mi
			FROM hops LEFT JOIN place a ON here = a.code LEFT JOIN place b ON there = b.code),
		summed AS (
			SELECT start, arrivals, list_sum(list(mi ORDER BY i)) AS mi FROM legs GROUP BY start, arrivals HAVING count(mi) = count(*))
		SELECT leg, f.start || '||' || f.arrivals AS route, coalesce(given, mi) AS total, direct
		FROM fare f LEFT JOIN summed s ON f.start = s.start AND f.arrivals = s.arrivals AND given IS NULL
		WHERE detour AND coalesce(given, mi) > 4 * direct ORDER BY ALL`

	// Of a leg the least duration counts; of equal durations, the smallest route.
	flightsFastest = `
		WITH legs AS (
			SELECT start || '-' || stop AS journey, leg, min({minutes: minutes(duration), route: start || '||' || arrivals, n: stops(arrivals)}) AS best
			FROM fare WHERE stopover GROUP BY journey, leg)
		SELECT journey, leg, best.route, best.n, best.minutes FROM legs
		QUALIFY row_number() OVER (PARTITION BY journey ORDER BY best.minutes, leg) <= 2
		ORDER BY journey, best.minutes, leg`

	flightsFares = `
		WITH mean AS (SELECT sum(cents) AS sum, count(*) AS n FROM fare WHERE cents > 0)
		SELECT start || '-' || stop AS journey, sum(cents), max(cents), count(*) FROM fare
		WHERE cents > 0 AND cents * (SELECT n FROM mean)::HUGEINT > (SELECT sum FROM mean)
		GROUP BY journey ORDER BY journey`
)
