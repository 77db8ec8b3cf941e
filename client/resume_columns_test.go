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

// TestR17_ASessionKeepsItsForm: rows of a Parquet file that began to travel as text continue as text, though the cluster reads columns by
// now, and columns stay columns, cut as before whatever the limits are. Where columns are not read any more the session is not resumed, in
// words, and nothing is sent.
func TestR17_ASessionKeepsItsForm(t *testing.T) {
	stations, stationRows := csvFile("stations", 5)
	parquet, rides := inParquet(t, 400)
	const trips = "trips a/trips.csv"
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "stations.csv"), stations)
	write(t, filepath.Join(dir, "a", "trips.parquet"), parquet)
	for name, c := range map[string]struct {
		before, after, chunk int
		says                 string
	}{
		"text, and columns are read now":        {0, 1, 700, ""},
		"text, in other chunks":                 {0, 1, 90, ""},
		"text, and another version is read now": {0, 2, 700, ""},
		"columns":                               {1, 1, 700, ""},
		"columns, with larger chunks":           {1, 1, 9000, ""},
		"columns, with smaller chunks":          {1, 1, 90, ""},
		"columns, and none are read":            {1, 0, 700, "or was sent as columns, which not every input of this cluster reads"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeCluster(t, 2, 1)
			f.columnar = c.before
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
				f.columnar = c.after
				return s.bytes, len(s.records[trips]), s.columnar
			}
			before, some, columns := arrived()
			if columns == 0 && c.before > 0 || some == 0 {
				t.Fatalf("%d chunks of columns, %d rides", columns, some)
			}
			cfg.Chunk = c.chunk
			_, err = Run(during(t, 20*time.Second), cfg)
			after, _, columns := arrived()
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
			if (columns > 0) != (c.before > 0) {
				t.Errorf("%d chunks of columns", columns)
			}
		})
	}
}
