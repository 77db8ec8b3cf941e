package gen

import (
	"bytes"
	"errors"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// memory is a Dir that keeps files in memory.
type memory map[string]*bytes.Buffer

func (m memory) Create(name string) (io.WriteCloser, error) {
	m[name] = new(bytes.Buffer)
	return closing{m[name]}, nil
}

type closing struct{ *bytes.Buffer }

func (closing) Close() error { return nil }

func bikes(t testing.TB, rows int, seed uint64) memory {
	t.Helper()
	m := memory{}
	if err := Bikes(m, rows, seed); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBytesDependOnRowsAndSeedAlone(t *testing.T) {
	a, b, other := bikes(t, 5000, 3), bikes(t, 5000, 3), bikes(t, 5000, 4)
	for name := range a {
		if !bytes.Equal(a[name].Bytes(), b[name].Bytes()) {
			t.Errorf("%s differs between two runs", name)
		}
		if bytes.Equal(a[name].Bytes(), other[name].Bytes()) {
			t.Errorf("%s does not depend on the seed", name)
		}
	}
	h := fnv.New64a()
	for _, name := range []string{"montreal/trips.csv", "toronto/stations.csv", "washington/weather.csv"} {
		_, _ = h.Write(a[name].Bytes())
	}
	if h.Sum64() != pinnedBikes {
		t.Errorf("the data is %#x, was %#x: figures of benchmarks before and after cannot be compared; if that is meant, pin the new one",
			h.Sum64(), uint64(pinnedBikes))
	}
}

func TestRowsAreAsManyAsAskedFor(t *testing.T) {
	for _, rows := range []int{0, 1, 2, 99, 12345} {
		m, n := bikes(t, rows, 1), 0
		for _, city := range []string{"montreal", "toronto", "washington"} {
			p := bytes.TrimSuffix(m[city+"/trips.csv"].Bytes(), []byte("\n"))
			n += bytes.Count(p, []byte("\n"))
			if len(p) == 0 {
				t.Errorf("%s has no header", city)
			}
		}
		if n != rows {
			t.Errorf("%d rows, want %d", n, rows)
		}
	}
}

func TestQuirksAreThere(t *testing.T) {
	m := bikes(t, 20000, 1)
	trips := func(city string) string { return m[city+"/trips.csv"].String() }
	stations := m["montreal/stations.csv"].String()
	for what, ok := range map[string]bool{
		"byte order mark":    strings.HasPrefix(trips("toronto"), "\xef\xbb\xbf"),
		"CRLF":               strings.HasSuffix(trips("washington"), "\r\n"),
		"no last newline":    !strings.HasSuffix(trips("montreal"), "\n"),
		"other column order": strings.HasPrefix(trips("toronto")[3:], "duration_sec,"),
		"negative durations": strings.Contains(trips("montreal"), ",-"),
		"fractions":          strings.Contains(trips("montreal"), ".123,"),
		"quoted codes":       strings.Contains(trips("montreal"), `,"6`),
		"broken quotes":      strings.Contains(trips("montreal"), `"broken" row`),
		"bad dates":          strings.Contains(trips("washington"), "2015-02-29"),
		"comma in a name":    strings.Contains(stations, `"Depot, South"`),
		"newline in a name":  strings.Contains(stations, "\"Two\nLines\""),
		"doubled quotes":     strings.Contains(stations, `""Old""`),
		"control byte":       strings.Contains(stations, "\x07"),
		"not UTF-8":          strings.Contains(stations, "\xe9 "),
		"UTF-8":              strings.Contains(stations, "中央駅"),
		"double space":       strings.Contains(stations, "Vieux  Port"),
		"no coordinates":     strings.Contains(m["toronto/stations.csv"].String(), ",,"),
		"repeated station":   strings.Contains(stations, "Formerly"),
		"weather columns":    header(m["montreal/weather.csv"]) != header(m["toronto/weather.csv"]),
	} {
		if !ok {
			t.Errorf("there is no %s", what)
		}
	}
}

func header(b *bytes.Buffer) string {
	line, _, _ := strings.Cut(b.String(), "\n")
	return line
}

var errFull = errors.New("disk full")

// full is a Dir on a disk that becomes full after some bytes.
type full struct{ left int }

func (d *full) Create(string) (io.WriteCloser, error) { return d, nil }
func (d *full) Close() error                          { return nil }
func (d *full) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestErrorsOfTheDiskAreReported(t *testing.T) {
	for _, left := range []int{0, 300 << 10, 1 << 20} {
		if err := Bikes(&full{left}, 100000, 1); !errors.Is(err, errFull) {
			t.Errorf("full after %d bytes: %v", left, err)
		}
	}
	if err := Bikes(memory{}, -1, 1); err == nil {
		t.Error("a negative number of rows is taken")
	}
}

func TestOnDiskMakesDirectories(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := Bikes(OnDisk(dir), 10, 1); err != nil {
		t.Fatal(err)
	}
	p, err := os.ReadFile(filepath.Join(dir, "montreal", "trips.csv"))
	if err != nil || !bytes.Equal(p, bikes(t, 10, 1)["montreal/trips.csv"].Bytes()) {
		t.Fatalf("%v, %d bytes", err, len(p))
	}
	if err := Bikes(OnDisk(filepath.Join(dir, "montreal", "trips.csv")), 10, 1); err == nil {
		t.Fatal("a file is taken for a directory")
	}
}

// nothing is a Dir that only counts bytes.
type nothing struct{ n int64 }

func (d *nothing) Create(string) (io.WriteCloser, error) { return d, nil }
func (d *nothing) Close() error                          { return nil }
func (d *nothing) Write(p []byte) (int, error)           { d.n += int64(len(p)); return len(p), nil }

func BenchmarkBikes(b *testing.B) {
	const rows = 1 << 20
	var d nothing
	for b.Loop() {
		d.n = 0
		if err := Bikes(&d, rows, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(d.n)
	b.ReportMetric(float64(d.n)/rows, "B/row")
}
