package bikes

import (
	"fmt"
	"math"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

func newParser(_ analyses.Args, stream int, file analyses.File, b *batch.Builder) (func([][]byte) error, error) {
	if _, err := cityOf(file); err != nil {
		return nil, err
	}
	switch stream {
	case weather:
		return parseWeather(b), nil
	case stations:
		return parseStations(b), nil
	case trips:
		return parseTrips(file, b), nil
	}
	return nil, fmt.Errorf("bikes has no stream %d", stream)
}

func cityOf(file analyses.File) (string, error) {
	if len(file.Tags) == 0 || file.Tags[0] == "" {
		return "", fmt.Errorf("file %q is in no city's folder", file.Name)
	}
	return file.Tags[0], nil
}

func parseWeather(b *batch.Builder) func([][]byte) error {
	date, mm := b.Int(weatherDate), b.Float(weatherRain)
	return func(f [][]byte) error {
		day, ok := csv.ParseDate(f[0])
		if !ok {
			return analyses.BadField("date", f[0], "a date YYYY-MM-DD")
		}
		v, ok := csv.ParseFloat(f[1])
		if !ok {
			return analyses.BadField("prectot", f[1], "a number")
		}
		date.Append(day - 1) // the row describes the day before
		mm.Append(v)
		return nil
	}
}

func parseStations(b *batch.Builder) func([][]byte) error {
	code, name, year := b.Text(stationCode), b.Text(stationName), b.Int(stationYear)
	lat, lon, located := b.Float(stationLatitude), b.Float(stationLongitude), b.Int(stationLocated)
	return func(f [][]byte) error {
		switch {
		case len(f[0]) == 0:
			return analyses.BadField("code", nil, "")
		case len(f[1]) == 0:
			return analyses.BadField("name", nil, "")
		}
		x, hasX, err := coordinate("latitude", f[2], 90)
		if err != nil {
			return err
		}
		y, hasY, err := coordinate("longitude", f[3], 360)
		if err != nil {
			return err
		}
		v, ok := csv.ParseInt(f[4])
		if !ok {
			return analyses.BadField("yearid", f[4], "an integer")
		}
		code.Append(f[0])
		name.Append(f[1])
		year.Append(v)
		lat.Append(x)
		lon.Append(y)
		located.Append(int64(hasX & hasY))
		return nil
	}
}

// coordinate reads a coordinate; has is 0 if it is empty.
func coordinate(column string, p []byte, limit float64) (v float64, has int, err error) {
	if len(p) == 0 {
		return 0, 0, nil
	}
	v, ok := csv.ParseFloat(p)
	if !ok || math.Abs(v) > limit {
		return 0, 0, analyses.BadField(column, p, "a "+column)
	}
	return v, 1, nil
}

func parseTrips(file analyses.File, b *batch.Builder) func([][]byte) error {
	begin := file.Cells.Column(0, columnar.Ask{Kind: columnar.Seconds, Parse: func(p []byte) (c columnar.Cell, ok bool) {
		c.Int, ok = csv.ParseDateTime(p)
		return c, ok
	}})
	of := file.Cells.Column(4, columnar.Ask{Kind: columnar.Int, Parse: func(p []byte) (c columnar.Cell, ok bool) {
		c.Int, ok = csv.ParseInt(p)
		return c, ok
	}})
	date, start, end := b.Int(tripDate), b.Dict(tripStart), b.Dict(tripEnd)
	durations, scales, year := b.Int(tripDuration), b.Int(tripScale), b.Int(tripYear)
	return func(f [][]byte) error {
		at, ok := begin.Int, begin.OK
		if !ok {
			at, ok = csv.ParseDateTime(f[0])
		}
		switch {
		case !ok:
			return analyses.BadField("start_date", f[0], "a time YYYY-MM-DD HH:MM:SS")
		case len(f[1]) == 0:
			return analyses.BadField("start_station_code", nil, "")
		case len(f[2]) == 0:
			return analyses.BadField("end_station_code", nil, "")
		}
		value, scale, ok := duration(f[3])
		if !ok {
			return analyses.BadField("duration_sec", f[3], "a number")
		}
		y, ok := of.Int, of.OK
		if !ok {
			y, ok = csv.ParseInt(f[4])
		}
		if !ok {
			return analyses.BadField("yearid", f[4], "an integer")
		}
		date.Append(daysOf(at))
		start.Append(f[1])
		end.Append(f[2])
		durations.Append(value)
		scales.Append(scale)
		year.Append(y)
		return nil
	}
}

// daysOf returns the day of a time in seconds since 1970. It rounds down, also before 1970.
func daysOf(seconds int64) int64 {
	const day = 24 * 60 * 60
	days := seconds / day
	if seconds%day < 0 {
		days--
	}
	return days
}
