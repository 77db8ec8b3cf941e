package client

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/csv"
)

// TestR17_ColumnsAreCutAsBefore: a session that is resumed cuts a Parquet file into the chunks in which it was sent, whatever the limits
// are by now. Of a file with other columns nothing is sent.
func TestR17_ColumnsAreCutAsBefore(t *testing.T) {
	stations, stationRows := csvFile("stations", 5)
	parquet, rides := inParquet(t, 400)
	const trips = "trips a/trips.csv"
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "stations.csv"), stations)
	write(t, filepath.Join(dir, "a", "trips.parquet"), parquet)
	for name, c := range map[string]struct {
		chunk int
		also  string // a column that is also needed now
		says  string
	}{
		"the same limits": {700, "", ""}, "larger chunks": {9000, "", ""}, "smaller chunks": {90, "", ""},
		"other columns": {700, "other", "trips.csv has another header"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeCluster(t, 2, 1)
			cfg := f.config()
			cfg.Dir, cfg.Chunk, cfg.Lanes, cfg.Session = dir, 700, 2, session.ID{1}
			cfg.Columns = func(string) []csv.Column { return []csv.Column{{Name: "id"}, {Name: "line"}} }
			f.diesAfter(cfg, protocol.Chunk, 6, true)
			cfg.Resume = true
			settle, err := Dial(during(t, 20*time.Second), cfg) // what the first client had under way was taken, or never is
			if err == nil {
				err = errors.Join(settle.Open(during(t, 20*time.Second)), settle.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			arrived := func() (bytes int64, rides, columns int) {
				s := f.one()
				f.mu.Lock()
				defer f.mu.Unlock()
				return s.bytes, len(s.records[trips]), s.columnar
			}
			before, some, columns := arrived()
			if columns == 0 || some == 0 {
				t.Fatalf("%d chunks of columns, %d rides", columns, some)
			}
			cfg.Chunk = c.chunk
			if c.also != "" {
				cfg.Columns = func(string) []csv.Column { return []csv.Column{{Name: "id"}, {Name: "line"}, {Name: c.also}} }
			}
			_, err = Run(during(t, 20*time.Second), cfg)
			after, _, _ := arrived()
			if c.says != "" {
				if !errors.Is(err, ErrOtherFiles) || !strings.Contains(err.Error(), c.says) || after != before {
					t.Errorf("%v; %d bytes, and before %d", err, after, before)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			f.compare(map[string][]string{"stations a/stations.csv": stationRows, trips: rides})
		})
	}
}
