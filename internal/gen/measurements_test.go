package gen

import (
	"bytes"
	"hash/fnv"
	"regexp"
	"testing"
)

// pinnedMeasurements is a hash of the data of 5,000 rows and seed 3.
const pinnedMeasurements = 0x2250000fca6218e6

func TestMeasurements(t *testing.T) {
	d := memory{}
	if err := Measurements(d, 5000, 3); err != nil {
		t.Fatal(err)
	}
	data := d["measurements.csv"].Bytes()
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	row := regexp.MustCompile(`^\pL{3,30};-?\d{1,2}\.\d$`)
	stations := map[string]bool{}
	for _, l := range lines[1:] {
		if !row.Match(l) {
			t.Fatalf("%q", l)
		}
		name, _, _ := bytes.Cut(l, []byte(";"))
		stations[string(name)] = true
	}
	if len(lines) != 5001 || len(stations) != 413 || string(lines[0]) != "station;temperature" {
		t.Errorf("%d lines, %d stations, header %q", len(lines), len(stations), lines[0])
	}
	h := fnv.New64a()
	h.Write(data)
	if h.Sum64() != pinnedMeasurements {
		t.Errorf("other bytes than before: %#x", h.Sum64())
	}
	if err := Measurements(d, -1, 3); err == nil {
		t.Error("-1 rows")
	}
}
