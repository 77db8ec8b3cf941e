package bikesoracle

import (
	"math"
	"strconv"
	"time"

	"posta.dev/posta/test/oracle/oraclecsv"
)

// integer parses an integer, so that different spellings become the same text.
func integer(column, s string) (string, error) {
	n, err := oraclecsv.Integer(column, s)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(n, 10), nil
}

func (o *oracle) weather(city string, f []string) error {
	date, err := time.Parse(time.DateOnly, f[0])
	if err != nil {
		return oraclecsv.Invalid("date", f[0], "a date YYYY-MM-DD")
	}
	mm, err := oraclecsv.Number("prectot", f[1], "a number")
	if err != nil {
		return err
	}
	o.mm[dayKey{city, date.AddDate(0, 0, -1).Format(time.DateOnly)}] = mm
	return nil
}

func (o *oracle) station(city string, f []string) error {
	if f[0] == "" {
		return oraclecsv.Invalid("code", "", "")
	}
	if f[1] == "" {
		return oraclecsv.Invalid("name", "", "")
	}
	s := station{name: f[1], located: f[2] != "" && f[3] != ""}
	var err error
	if f[2] != "" {
		if s.lat, err = oraclecsv.Number("latitude", f[2], "a latitude"); err != nil || math.Abs(s.lat) > 90 {
			return oraclecsv.Invalid("latitude", f[2], "a latitude")
		}
	}
	if f[3] != "" {
		if s.lon, err = oraclecsv.Number("longitude", f[3], "a longitude"); err != nil || math.Abs(s.lon) > 360 {
			return oraclecsv.Invalid("longitude", f[3], "a longitude")
		}
	}
	year, err := integer("yearid", f[4])
	if err != nil {
		return err
	}
	o.stations[stationKey{city, f[0], year}] = s
	return nil
}

func (o *oracle) trip(city string, f []string) error {
	start, err := time.Parse(time.DateTime, f[0])
	if err != nil || len(f[0]) != 19 {
		return oraclecsv.Invalid("start_date", f[0], "a time YYYY-MM-DD HH:MM:SS")
	}
	if f[1] == "" {
		return oraclecsv.Invalid("start_station_code", "", "")
	}
	if f[2] == "" {
		return oraclecsv.Invalid("end_station_code", "", "")
	}
	seconds, err := oraclecsv.Number("duration_sec", f[3], "a number")
	if err != nil {
		return err
	}
	year, err := integer("yearid", f[4])
	if err != nil {
		return err
	}
	o.count(city, start.Format(time.DateOnly), f[1], f[2], year, seconds)
	return nil
}

func (o *oracle) count(city, date, startCode, endCode, year string, seconds float64) {
	limit, _ := strconv.ParseFloat(o.params["rain_mm"], 64)
	if mm, ok := o.mm[dayKey{city, date}]; ok && mm > limit {
		at(o.rain, date).Add(math.Max(0, seconds))
	}
	start, ok := o.stations[stationKey{city, startCode, year}]
	if !ok {
		return
	}
	k := [2]string{city, start.name}
	for i, param := range []string{"year_before", "year_after"} {
		if y, _ := integer("", o.params[param]); y == year {
			if o.doubled[k] == nil {
				o.doubled[k] = new([2]int64)
			}
			o.doubled[k][i]++
		}
	}
	end, ok := o.stations[stationKey{city, endCode, year}]
	if ok && city == o.params["city"] && start.located && end.located {
		at(o.far, end.name).Add(haversine(start, end))
	}
}

func haversine(a, b station) float64 {
	rad := func(deg float64) float64 { return deg * math.Pi / 180 }
	dLat, dLon := math.Sin((rad(b.lat)-rad(a.lat))/2), math.Sin((rad(b.lon)-rad(a.lon))/2)
	h := dLat*dLat + math.Cos(rad(a.lat))*math.Cos(rad(b.lat))*(dLon*dLon)
	return 2 * 6371.0088 * math.Asin(math.Min(1, math.Sqrt(h)))
}
