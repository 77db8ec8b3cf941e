package bikesoracle

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

func number(column, s, want string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if !decimal.MatchString(s) || err != nil {
		return 0, invalid(column, s, want)
	}
	return f, nil
}

// integer also brings integers that are written differently to one form.
func integer(column, s string) (string, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return "", invalid(column, s, "integer")
	}
	return strconv.FormatInt(n, 10), nil
}

func invalid(column, s, want string) error {
	if s == "" {
		return fmt.Errorf("%s is empty", column)
	}
	if len(s) > 40 {
		s = s[:40]
	}
	return fmt.Errorf("%s %q is no %s", column, s, want)
}

func (o *oracle) weather(city string, f []string) error {
	date, err := time.Parse(time.DateOnly, f[0])
	if err != nil {
		return invalid("date", f[0], "date YYYY-MM-DD")
	}
	mm, err := number("prectot", f[1], "number")
	if err != nil {
		return err
	}
	o.mm[dayKey{city, date.AddDate(0, 0, -1).Format(time.DateOnly)}] = mm
	return nil
}

func (o *oracle) station(city string, f []string) error {
	if f[0] == "" {
		return invalid("code", "", "")
	}
	if f[1] == "" {
		return invalid("name", "", "")
	}
	s := station{name: f[1], located: f[2] != "" && f[3] != ""}
	var err error
	if f[2] != "" {
		if s.lat, err = number("latitude", f[2], "latitude"); err != nil || math.Abs(s.lat) > 90 {
			return invalid("latitude", f[2], "latitude")
		}
	}
	if f[3] != "" {
		if s.lon, err = number("longitude", f[3], "longitude"); err != nil || math.Abs(s.lon) > 360 {
			return invalid("longitude", f[3], "longitude")
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
		return invalid("start_date", f[0], "time YYYY-MM-DD HH:MM:SS")
	}
	if f[1] == "" {
		return invalid("start_station_code", "", "")
	}
	if f[2] == "" {
		return invalid("end_station_code", "", "")
	}
	seconds, err := number("duration_sec", f[3], "number")
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
		at(o.rain, date).add(math.Max(0, seconds))
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
		at(o.far, end.name).add(haversine(start, end))
	}
}

func haversine(a, b station) float64 {
	rad := func(deg float64) float64 { return deg * math.Pi / 180 }
	dLat, dLon := math.Sin((rad(b.lat)-rad(a.lat))/2), math.Sin((rad(b.lon)-rad(a.lon))/2)
	h := dLat*dLat + math.Cos(rad(a.lat))*math.Cos(rad(b.lat))*(dLon*dLon)
	return 2 * 6371.0088 * math.Asin(math.Min(1, math.Sqrt(h)))
}
