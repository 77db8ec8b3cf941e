package bikes_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/test/analysistest"
)

const (
	weatherHead  = "date,prectot\n"
	stationsHead = "code,name,latitude,longitude,yearid\n"
	tripsHead    = "start_date,start_station_code,end_date,end_station_code,duration_sec,is_member,yearid\n"
)

// written writes files of one or more cities: "city/file" → rows without header.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	heads := map[string]string{"weather.csv": weatherHead, "stations.csv": stationsHead, "trips.csv": tripsHead}
	whole := analysistest.Files{}
	for name, rows := range files {
		whole[name] = heads[path.Base(name)] + rows
	}
	return whole.Write(t)
}

func TestTheLastRowWins(t *testing.T) {
	dir := written(t, map[string]string{
		"montreal/weather.csv": "2016-05-02,1\n2016-05-02,31\n2016-05-03,31\n2016-05-03,30\n",
		"montreal/stations.csv": "1,Old,45,-73,2016\n1,Old,45,-73,2017\n2,End,45.3,-73,2016\n2,End,45.3,-73,2017\n" +
			"1,New,45,-73,2016\n1,New,45,-73,2017\n2,End,45.1,-73,2017\n",
		"montreal/trips.csv": "2016-05-01 00:00:00,1,,2,100.5,1,2016\n2016-05-02 23:59:59,1,,2,100,1,2016\n" +
			"2016-05-02 10:00:00,1,,2,7,1,2017\n2016-05-01 10:00:00,1,,2,-7,1,2017\n2016-05-03 10:00:00,1,,2,7,1,2017\n2016-05-03 " +
			"10:00:00,1,,2,7,1,2017\n",
	})
	a := subject.Both(t, dir, nil)
	if got := analysistest.Rows(a, "rain", "|"); got != "2016-05-01 50.25 2" {
		t.Errorf("rain: %s", got)
	}
	if got := analysistest.Rows(a, "doubled", "|"); got != "montreal New 2 4" {
		t.Errorf("doubled: %s", got)
	}
	if got := analysistest.Rows(a, "far", "|"); !strings.HasPrefix(got, "End 18.5") || !strings.HasSuffix(got, " 6") {
		t.Errorf("far: %s", got)
	}
}

func TestN7_WhichRowsAreRejected(t *testing.T) {
	dir := written(t, map[string]string{
		"c/weather.csv": "2016-05-02,31\n2016-5-2,31\n,31\n2016-05-02,\n2016-05-02,NaN\n2016-05-02,0x1p9\n2016-05-02,1e400\n2016-05-02,3.2e1\n",
		"c/stations.csv": "1,A,,,2016\n1,A,,5,2016\n,A,1,1,2016\n1,,1,1,2016\n1,A,x,1,2016\n1,A,1,inf,2016\n1,A,91,1,2016\n1,A,1,-361,2016\n" +
			"1,A,1,1,\n1,A,1,1,2016.0\n2,B,-90,360,+2017\n",
		"c/trips.csv": "2016-05-01 24:00:00,1,,2,5,,2016\n2016-05-01,1,,2,5,,2016\n2016-05-01T10:00:00,1,,2,5,,2016\n2016-05-01 " +
			"10:00:00,,,2,5,,2016\n" +
			"2016-05-01 10:00:00,1,,,5,,2016\n2016-05-01 10:00:00,1,,2,,,2016\n2016-05-01 10:00:00,1,,2,5s,,2016\n2016-05-01 10:00:00,1,,2,5,,\n" +
			"2016-05-01 10:00:00,1\n2016-05-01 10:00:00,unknown,garbage,unknown,5e0,garbage,02016\n" +
			"2016-05-01 10:00:00,1,,2,123456789012345678901,,2016\n2016-05-01 10:00:00,1,,2,9007199254740993,,2016\n2016-05-01 " +
			"10:00:00,1,,2,.1,,2016\n",
	})
	a := subject.Both(t, dir, nil)
	analysistest.ExpectRejected(t, a, 6, 8, 9)
	if got := a.Rejected[2].First[8]; got.Line != 10 || got.File != "c/trips.csv" || got.Reason != "row has 2 fields, and the header has 7" {
		t.Errorf("%+v", got)
	}
	if got := analysistest.Rows(a, "rain", "|"); got != "2016-05-01 3.0866449052900106e+19 4" {
		t.Errorf("rain: %s", got)
	}
}

// TestDaysBefore1970AndLongReasons: times before 1970 round down to their day. A reason quotes only the beginning of a field,
// which may be as long as a file.
func TestDaysBefore1970AndLongReasons(t *testing.T) {
	dir := written(t, map[string]string{
		"c/weather.csv":  "1960-03-01,31\n0000-01-01,31\n1970-01-01,31\n" + strings.Repeat("9", 5000) + ",1\n",
		"c/stations.csv": "1,A,,,2016\n",
		"c/trips.csv":    "1960-02-29 00:00:00,1,,2,1,,1960\n1960-02-29 23:59:59,1,,2,2,,1960\n1969-12-31 00:00:01,1,,2,5,,1969\n",
	})
	a := subject.Both(t, dir, nil)
	if got := analysistest.Rows(a, "rain", "|"); got != "1960-02-29 1.5 2|1969-12-31 5 1" {
		t.Errorf("rain: %s", got)
	}
	if r := a.Rejected[0]; r.Rows != 1 || len(r.First[0].Reason) > 100 {
		t.Errorf("%+v", r)
	}
}

// TestFarYearsAndManyCodes has batches for which no lookup fits.
func TestFarYearsAndManyCodes(t *testing.T) {
	var trips, stations strings.Builder
	for i := range 3000 {
		year := []int64{2016, 2017, 2017, -9223372036854775808, 9223372036854775807, int64(i) * 1e9}[i/50%6]
		fmt.Fprintf(&trips, "2016-05-01 10:00:00,s%d,,s%d,5,,%d\n", i%700, (i+200)%700, year)
		fmt.Fprintf(&stations, "s%d,Name %d,45.%d,-73.%d,%d\n", i%700, i%50, i%97, i%89, year)
	}
	dir := written(t, map[string]string{
		"montreal/weather.csv": "2016-05-02,31\n", "montreal/stations.csv": stations.String(), "montreal/trips.csv": trips.String(),
	})
	want := subject.Want(t, dir, nil)
	if len(want.Query("doubled").Rows) == 0 || len(want.Query("far").Rows) == 0 {
		t.Fatal("no answers, which proves nothing")
	}
	analysistest.Same(t, "one batch", subject.Run(t, dir, local.Options{}), want)
	analysistest.Same(t, "many", subject.Run(t, dir, local.Options{Seed: 3, ChunkBytes: 4000}), want)
}

// TestMorePointsThanTheSquareHolds has distances that are not remembered.
func TestMorePointsThanTheSquareHolds(t *testing.T) {
	var trips, stations strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&stations, "s%d,Name %d,45.%04d,-73.%04d,2016\n", i, i%50, i, 2*i)
		fmt.Fprintf(&trips, "2016-05-01 10:00:00,s%d,,s%d,5,,2016\n", i, 2499-i)
	}
	dir := written(t, map[string]string{
		"montreal/weather.csv": "2016-05-02,1\n", "montreal/stations.csv": stations.String(), "montreal/trips.csv": trips.String(),
	})
	want := subject.Want(t, dir, nil)
	if len(want.Query("far").Rows) == 0 {
		t.Fatal("no answers, which proves nothing")
	}
	analysistest.Same(t, "many points", subject.Run(t, dir, local.Options{ChunkBytes: 10000}), want)
}

func TestParametersAreChecked(t *testing.T) {
	analysistest.BadParams(t, bikes.New(), map[string][]string{
		"rain_mm":     {"", "x", "NaN", "1e999"},
		"year_before": {"", "2016.5", "99999999999999999999"},
		"factor":      {"", "0", "-1", "1e9", "1e999999999", "12345678901234567890", "1234567890.123456", "1/3"},
		"city":        {""},
		"min_km":      {"six"},
	})
	analysistest.BadArgs(t, bikes.New(), []analyses.Args{nil, {"1"}, {"30", "2016", "2017", "0", "c", "6"}})
}
