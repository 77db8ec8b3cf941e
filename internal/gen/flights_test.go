package gen

import (
	"bytes"
	"errors"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func flights(t testing.TB, rows int, seed uint64) memory {
	t.Helper()
	m := memory{}
	if err := Flights(m, rows, seed); err != nil {
		t.Fatal(err)
	}
	return m
}

// pinned checks that data still has its bytes of an earlier day.
func pinned(t *testing.T, m memory, want uint64) {
	t.Helper()
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	h := fnv.New64a()
	for _, name := range names {
		_, _ = h.Write(m[name].Bytes())
	}
	if h.Sum64() != want {
		t.Errorf("the data is %#x, was %#x: figures of benchmarks before and after cannot be compared; if that is meant, pin the new one",
			h.Sum64(), want)
	}
}

func TestFlightsDependOnRowsAndSeedAlone(t *testing.T) {
	a, b, other := flights(t, 5000, 3), flights(t, 5000, 3), flights(t, 5000, 4)
	for name := range a {
		if !bytes.Equal(a[name].Bytes(), b[name].Bytes()) {
			t.Errorf("%s differs between two runs", name)
		}
		if bytes.Equal(a[name].Bytes(), other[name].Bytes()) {
			t.Errorf("%s does not depend on the seed", name)
		}
	}
	pinned(t, a, pinnedFlights)
}

func TestFlightsAreAsManyAsAskedFor(t *testing.T) {
	for _, rows := range []int{0, 1, 500, 12345} {
		p := flights(t, rows, 1)["itineraries.csv"].Bytes()
		quoted := bytes.Count(p, []byte("and repainted"))
		if n := bytes.Count(p, []byte("\n")) - quoted; n != rows {
			t.Errorf("%d rows, want %d", n, rows)
		}
	}
}

func TestFlightsHaveTheirQuirks(t *testing.T) {
	m := flights(t, 20000, 1)
	ports, rows := m["airports-codepublic.csv"].String(), m["itineraries.csv"].String()
	twice := false
	lines := strings.Split(rows, "\n")
	for i := 2; i < len(lines); i++ {
		twice = twice || lines[i] == lines[i-2]
	}
	for what, ok := range map[string]bool{
		"byte order mark":      strings.HasPrefix(ports, "\xef\xbb\xbfAirport Code;"),
		"CRLF":                 strings.HasSuffix(ports, "\r\n"),
		"quoted semicolon":     strings.Contains(ports, `"Fields; South"`),
		"quoted line end":      strings.Contains(ports, "\"Two\r\nLines\""),
		"UTF-8":                strings.Contains(ports, "São"),
		"bad latitude":         strings.Contains(ports, ";91.5;"),
		"no last newline":      !strings.HasSuffix(rows, "\n"),
		"no distance":          strings.Contains(rows, ",7,,"),
		"distance 0":           strings.Contains(rows, ",7,0,"),
		"distance -1":          strings.Contains(rows, ",7,-1,"),
		"four stopovers":       strings.Count(rows, "coach||coach||coach||coach||coach") > 0,
		"fares of 0":           strings.Contains(rows, ",0.00,0.00,"),
		"fares below 0":        strings.Contains(rows, ",-"),
		"days without hours":   strings.Contains(rows, ",P1D,"),
		"minutes alone":        regexp.MustCompile(`,PT[0-9]+M,`).MatchString(rows),
		"days and hours":       strings.Contains(rows, ",P1DT"),
		"quoted fields":        strings.Contains(rows, `""stretched""`),
		"broken quotes":        strings.Contains(rows, `"broken" row`),
		"empty elements":       strings.Contains(rows, ",AAA||||BBB,"),
		"parts of cents":       strings.Contains(rows, ",100.005,"),
		"row that is repeated": twice,
	} {
		if !ok {
			t.Errorf("there is no %s", what)
		}
	}
}

func TestFlightsReportErrorsOfTheDisk(t *testing.T) {
	for _, left := range []int{0, 300 << 10, 1 << 20} {
		if err := Flights(&full{left}, 20000, 1); !errors.Is(err, errFull) {
			t.Errorf("full after %d bytes: %v", left, err)
		}
	}
	if err := Flights(memory{}, -1, 1); err == nil {
		t.Error("a negative number of rows is taken")
	}
}

func BenchmarkFlights(b *testing.B) {
	const rows = 1 << 18
	var d nothing
	for b.Loop() {
		d.n = 0
		if err := Flights(&d, rows, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(d.n)
	b.ReportMetric(float64(d.n)/rows, "B/row")
}
