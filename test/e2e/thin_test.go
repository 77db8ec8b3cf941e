package e2e

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"posta.dev/posta/rows/csv"
	"posta.dev/posta/test/e2e/truth"
	"posta.dev/posta/test/oracle/bikesoracle"
)

// thinned returns a small part of generated data in which every query still has answers; otherwise nothing would be tested.
func thinned(t *testing.T) *dataset {
	t.Helper()
	big, dir := generated(t, 40_000), t.TempDir()
	every := map[string]int{"weather.csv": 4, "stations.csv": 3, "trips.csv": 20}
	paths, err := filepath.Glob(filepath.Join(big.dir, "*", "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		thin(t, path, filepath.Join(dir, filepath.Base(filepath.Dir(path)), filepath.Base(path)), every[filepath.Base(path)])
	}
	a, err := bikesoracle.Run(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range a.Queries {
		if len(q.Rows) == 0 {
			t.Errorf("the small data has no answers to query %s", q.Name)
		}
	}
	return &dataset{analysis: "bikes", dir: dir, want: truth.Queries(t, a)}
}

// thin copies the header and every n-th record of a file.
func thin(t *testing.T, from, to string, n int) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }() // it was only read
	cut := csv.NewCutter(in, ',', 1, 1<<20)
	header, err := cut.Header()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.Write(header)
	out.WriteByte('\n')
	for i := 0; ; i++ {
		record, _, err := cut.Next(nil)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if i%n == 0 {
			out.Write(record)
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
