package client

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/rows/csv"
)

// TestC1_ParquetOnTheDisk: Parquet is recognised by its content, the file's name must not contradict it, and the file may not change while
// it is read.
func TestC1_ParquetOnTheDisk(t *testing.T) {
	stations, stationRows := csvFile("stations", 5)
	columnar, rides := inParquet(t, 50)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "stations.csv"), stations)
	for _, c := range []struct {
		name    string
		content []byte
		refused string
	}{
		{"trips.parquet", columnar, ""}, {"trips.csv", columnar, ""}, {"trips.parquet", stations, "does not begin as Parquet files do"},
		{"trips.parquet", nil, "does not begin"},
		{"trips.parquet", columnar[:len(columnar)-1], "it is cut short"}, {"trips.csv.gz", packed(t, columnar), "holds a Parquet file"},
	} {
		path := filepath.Join(dir, "a", c.name)
		write(t, path, c.content)
		f := newFakeCluster(t, 1, 1)
		cfg := f.config()
		cfg.Dir = dir
		cfg.Columns = func(string) []csv.Column { return []csv.Column{{Name: "id"}, {Name: "line"}} }
		_, err := Run(during(t, 20*time.Second), cfg)
		switch {
		case c.refused == "" && err == nil:
			f.compare(map[string][]string{"stations a/stations.csv": stationRows, "trips a/trips.csv": rides})
		case c.refused == "" || !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.refused) || !strings.Contains(err.Error(), path):
			t.Errorf("%s: %v", c.name, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}

	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, cfg.Named, cfg.Stdin = dir, []Named{{As: "a/trips.csv", Path: "-"}}, bytes.NewReader(columnar)
	if _, err := Run(during(t, 20*time.Second), cfg); !errors.Is(err, ErrInput) ||
		!strings.Contains(err.Error(), "standard input holds a Parquet file") {
		t.Errorf("in a pipe: %v", err)
	}

	path := filepath.Join(dir, "a", "trips.parquet")
	write(t, path, columnar)
	for left, want := range map[string][]string{"2": rides[20:], "22": slices.Concat(rides[:20], rides[40:]), "": nil} {
		f := newFakeCluster(t, 1, 1)
		cfg := f.config()
		cfg.Dir = dir
		cfg.Columns = func(string) []csv.Column { return []csv.Column{{Name: "id"}, {Name: "line"}} }
		cfg.Skips = func(string) func([]csv.Range) bool {
			return func(r []csv.Range) bool { return left == "" || string(r[1].Least) == left }
		}
		answer, err := Run(during(t, 20*time.Second), cfg)
		if err != nil || len(answer.Warnings) > 0 {
			t.Fatalf("without rows from %s: %v, %v", left, answer, err)
		}
		files := map[string][]string{"stations a/stations.csv": stationRows}
		if want != nil {
			files["trips a/trips.csv"] = want
		}
		f.compare(files)
	}
	file, err := openFile(path, &warnings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := file.(format.Located).Unchanged(); err != nil {
		t.Error(err)
	}
	write(t, path, append(columnar, 'x'))
	if err := file.(format.Located).Unchanged(); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Error(err)
	}
}
