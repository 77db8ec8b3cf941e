package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"posta.dev/posta/rows/csv"
	"posta.dev/posta/test/s3test"
)

// inParquet returns a file with as many rows, and what must arrive of it.
func inParquet(t testing.TB, records int) (file []byte, want []string) {
	t.Helper()
	type row struct {
		Other string `parquet:"other"`
		Line  int64  `parquet:"line"`
		ID    string `parquet:"id,dict"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.MaxRowsPerRowGroup(20))
	for i := range records {
		if _, err := w.Write([]row{{"x", int64(i) + 2, fmt.Sprintf("\"%d\"", i)}}); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("\"\"\"%d\"\"\",%d", i, i+2))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), want
}

// TestC1_ObjectsAreRead: of S3, also packed ones, and Parquet.
func TestC1_ObjectsAreRead(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	stations, want := csvFile("stations", 5)
	trips, rides := csvFile("trips", 50)
	columnar, others := inParquet(t, 50)
	server := s3test.Start(t, "rides", map[string][]byte{"d/a/stations.csv": stations, "d/a/trips.csv.gz": packed(t, trips),
		"d/b/trips.csv": trips, "e/a/trips.parquet": columnar,
		"f/a/trips.csv": trips, "f/a/trips.csv.gz": packed(t, trips), "f/other.csv": trips, "f/a/deep/trips.csv": trips})
	server.Cut("e/a/trips.parquet", 500)
	all := map[string][]string{"stations a/stations.csv": want, "trips a/trips.csv": rides}
	for _, c := range []struct {
		named   []Named
		want    map[string][]string
		refused string
	}{
		{[]Named{{"stations", "s3://rides/d/a/stations.csv"}, {"a/trips.csv", "s3://rides/d/a/trips.csv.gz"}}, all, ""},
		{[]Named{{"stations", "s3://rides/d/"}, {"trips", "s3://rides/d/"}},
			map[string][]string{"stations a/stations.csv": want, "trips a/trips.csv": rides, "trips b/trips.csv": rides}, ""},
		{[]Named{{"stations", "s3://rides/d/a/stations.csv"}, {"trips", "s3://rides/e/"}},
			map[string][]string{"stations a/stations.csv": want, "trips a/trips.csv": others}, ""},
		{[]Named{{"stations", "s3://rides/d/a/stations.csv"}, {"trips", "s3://rides/f/"}}, nil, "its rows would count twice"},
		{[]Named{{"stations", "s3://rides/d/a/stations.csv"}, {"trips", "s3://rides/g/"}}, nil, "nothing matches s3://rides/g/"},
		{[]Named{{"stations", "s3://rides/d/a/stations.csv"}, {"trips", "s3://rides/a/trips.csv"}}, nil,
			"s3://rides/a/trips.csv: it says 404 Not Found (\"NoSuchKey\")"},
		{[]Named{{"stations", "s3://rides/d/a/stations.csv"}, {"a/trips.csv", "s3://rides/d/"}}, nil, "stands for several objects"},
		{[]Named{{"stations", "s3://rides/"}}, nil, "s3://bucket/path"},
	} {
		f := newFakeCluster(t, 1, 1)
		cfg := f.config()
		cfg.Named = c.named
		cfg.Columns = func(string) []csv.Column { return []csv.Column{{Name: "id"}, {Name: "line"}} }
		_, err := Run(during(t, 20*time.Second), cfg)
		switch {
		case c.refused == "" && err == nil:
			f.compare(c.want)
		case c.refused == "" || !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.refused):
			t.Errorf("%v: %v", c.named, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(temporary, "posta-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
}

// TestC1_ASilentServerDoesNotKeepACancelledRun: what lists objects, or has been asked for one, ends with the run, which says why it ended.
func TestC1_ASilentServerDoesNotKeepACancelledRun(t *testing.T) {
	asked := make(chan struct{}, 10)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer silent.Close()
	s3test.Start(t, "rides", nil)
	t.Setenv("AWS_ENDPOINT_URL", silent.URL)
	enough := errors.New("enough")
	for _, path := range []string{"s3://rides/*/trips.csv", "s3://rides/a/trips.csv", silent.URL + "/a/trips.csv"} {
		f := newFakeCluster(t, 1, 1)
		cfg := f.config()
		cfg.Dir, cfg.Named = "", []Named{{"stations", path}, {"trips", path}}
		ctx, cancel := context.WithCancelCause(during(t, time.Minute))
		ended := make(chan error, 1)
		go func() {
			_, err := Run(ctx, cfg)
			ended <- err
		}()
		select {
		case <-asked:
			cancel(enough)
			if err := <-ended; !errors.Is(err, enough) || errors.Is(err, ErrInput) {
				t.Errorf("%s: %v", path, err)
			}
		case err := <-ended:
			t.Errorf("%s ends before it asks: %v", path, err)
		}
		cancel(nil)
	}
}
