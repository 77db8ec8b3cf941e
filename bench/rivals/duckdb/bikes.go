package main

import (
	"time"

	"posta.dev/posta/analyses/answer"
)

// bikes reads the trips once and folds them, as they come, into the few groups that the queries need: by station and year; for
// the one city whose distances are needed, by both stations; and for a trip on a day with rain, also by that day. Rejected: a
// table of all trips, and reading the trips for each query. Both took more CPU time.
func bikes(e *engine) ([]answer.Query, error) {
	err := e.views(
		table{"weather", "*/weather.csv", ',', columns{{"date", "DATE"}, {"prectot", "DOUBLE"}}},
		table{"stations", "*/stations.csv", ',',
			columns{{"code", "VARCHAR"}, {"name", "VARCHAR"}, {"latitude", "DOUBLE"}, {"longitude", "DOUBLE"}, {"yearid", "INTEGER"}}},
		table{"trips", "*/trips.csv", ',', columns{{"start_date", "TIMESTAMP"}, {"start_station_code", "VARCHAR"},
			{"end_station_code", "VARCHAR"}, {"duration_sec", "DOUBLE"}, {"yearid", "INTEGER"}}},
	)
	for _, s := range []struct{ what, text string }{
		{"macros", exactMacros}, {"weather", bikesWeather}, {"stations", bikesStations}, {"trips", bikesTrips},
	} {
		if err == nil {
			err = e.exec(s.what, s.text)
		}
	}
	rain := answer.Query{Name: "rain", Columns: []string{"date", "average_duration_sec", "trips"}}
	if err == nil {
		err = e.rows("rain", bikesRain, func(scan func(...any) error) error {
			var day time.Time
			var s sum
			var n int64
			err := scan(&day, &s.whole, &s.part, &n)
			rain.Rows = append(rain.Rows, []any{day.Format(time.DateOnly), s.mean(n), n})
			return err
		})
	}
	doubled := answer.Query{Name: "doubled", Columns: []string{"city", "station", "trips_2016", "trips_2017"}}
	if err == nil {
		err = e.rows("doubled", bikesDoubled, func(scan func(...any) error) error {
			var city, station string
			var before, after int64
			err := scan(&city, &station, &before, &after)
			doubled.Rows = append(doubled.Rows, []any{city, station, before, after})
			return err
		})
	}
	far := answer.Query{Name: "far", Columns: []string{"station", "average_km", "trips"}}
	if err == nil {
		err = e.rows("far", bikesFar, func(scan func(...any) error) error {
			var station string
			var s sum
			var n int64
			if err := scan(&station, &s.whole, &s.part, &n); err != nil {
				return err
			}
			if km := s.mean(n); km > 6 {
				far.Rows = append(far.Rows, []any{station, km, n})
			}
			return nil
		})
	}
	return []answer.Query{rain, doubled, far}, err
}

var (
	// A row of the weather describes the day before. If a day has several rows, the last one counts.
	bikesWeather = `CREATE TEMP TABLE rainy AS
		SELECT folder, date - 1 AS day FROM ` + numbered("weather") + ` WHERE date IS NOT NULL AND isfinite(prectot)
		GROUP BY folder, date HAVING arg_max(prectot, n) > 30`

	bikesStations = `CREATE TEMP TABLE place AS
		SELECT folder, code, yearid, arg_max(name, n) AS name,
			arg_max({lat: latitude, lon: longitude}, n) AS latest FROM ` + numbered("stations") + `
		WHERE code IS NOT NULL AND name IS NOT NULL AND yearid IS NOT NULL
			AND coalesce(abs(latitude) <= 90, true) AND coalesce(abs(longitude) <= 360, true)
		GROUP BY folder, code, yearid`
)

const (
	bikesTrips = `CREATE TEMP TABLE folded AS
		SELECT t.folder, start_station_code AS start, CASE WHEN t.folder = 'montreal' THEN end_station_code END AS stop, yearid, day,
			count(*) AS n,
			sum(CASE WHEN day IS NOT NULL THEN whole(greatest(duration_sec, 0)) END) AS whole,
			sum(CASE WHEN day IS NOT NULL THEN part(greatest(duration_sec, 0)) END) AS part
		FROM trips t LEFT JOIN rainy r ON t.folder = r.folder AND start_date::DATE = day
		WHERE start_date IS NOT NULL AND start_station_code IS NOT NULL AND end_station_code IS NOT NULL AND yearid IS NOT NULL
			AND isfinite(duration_sec)
		GROUP BY ALL`

	bikesRain = `SELECT day, sum(whole), sum(part), sum(n)::BIGINT FROM folded WHERE day IS NOT NULL GROUP BY day ORDER BY day`

	bikesDoubled = `SELECT f.folder, name,
			coalesce(sum(n) FILTER (f.yearid = 2016), 0)::BIGINT AS before,
			coalesce(sum(n) FILTER (f.yearid = 2017), 0)::BIGINT AS after
		FROM folded f JOIN place p ON f.folder = p.folder AND start = code AND f.yearid = p.yearid
		WHERE f.yearid IN (2016, 2017)
		GROUP BY f.folder, name HAVING before > 0 AND after >= 2 * before
		ORDER BY f.folder, name`

	// Haversine, in doubles.
	bikesFar = `WITH pairs AS (SELECT start, stop, yearid, sum(n)::BIGINT AS n FROM folded WHERE folder = 'montreal' GROUP BY ALL),
		hops AS (
			SELECT b.name, n, a.latest.lat * pi() / 180 AS lat1, a.latest.lon * pi() / 180 AS lon1, b.latest.lat * pi() / 180 AS lat2, b.latest.lon * pi() / 180 AS lon2
			FROM pairs
			JOIN place a ON a.folder = 'montreal' AND start = a.code AND pairs.yearid = a.yearid
			JOIN place b ON b.folder = 'montreal' AND stop = b.code AND pairs.yearid = b.yearid
			WHERE a.latest.lat IS NOT NULL AND a.latest.lon IS NOT NULL AND b.latest.lat IS NOT NULL AND b.latest.lon IS NOT NULL),
		kms AS (
			SELECT name, n, 2 * 6371.0088::DOUBLE * asin(least(1, sqrt(
				sin((lat2 - lat1) / 2) * sin((lat2 - lat1) / 2) + cos(lat1) * cos(lat2) * (sin((lon2 - lon1) / 2) * sin((lon2 - lon1) / 2))))) AS km
			FROM hops)
		SELECT name, sum(whole(km) * n), sum(part(km) * n), sum(n)::BIGINT FROM kms GROUP BY name ORDER BY name`
)
