package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"posta.dev/posta/client"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/truth"
)

// dataset is generated data of an analysis with the oracle's answers.
type dataset struct {
	analysis string
	plan     []byte // of a statement
	dir      string
	want     []byte
}

// generators make the data of each analysis.
var generators = map[string]func(gen.Dir, int, uint64) error{
	"bikes": gen.Bikes, "flights": gen.Flights, "movies": gen.Movies, "memes": gen.Memes,
}

type datasetKey struct {
	analysis string
	rows     int
}

var datasets struct {
	sync.Mutex
	wants map[datasetKey][]byte
}

// generated makes data for bikes.
func generated(t *testing.T, rows int) *dataset { return generatedFor(t, "bikes", rows) }

// generatedFor makes data in a directory that goes with the test. The oracle runs once for all tests: data and answers
// depend only on rows and seed.
func generatedFor(t *testing.T, analysis string, rows int) *dataset {
	t.Helper()
	datasets.Lock()
	defer datasets.Unlock()
	d := &dataset{analysis: analysis, dir: t.TempDir()}
	if err := generators[analysis](gen.OnDisk(d.dir), rows, uint64(rows)); err != nil {
		t.Fatal(err)
	}
	key := datasetKey{analysis, rows}
	if d.want = datasets.wants[key]; d.want != nil {
		return d
	}
	a, err := truth.JSON(analysis, d.dir)
	if err != nil {
		t.Fatal(err)
	}
	d.want = truth.Queries(t, a)
	if datasets.wants == nil {
		datasets.wants = map[datasetKey][]byte{}
	}
	datasets.wants[key] = d.want
	return d
}

// statements are datasets for SQL. All read the same files, and rows is the number of rows in the largest one.
func statements(t *testing.T, rows int) (all []*dataset) {
	t.Helper()
	for _, j := range clustertest.Statements(t, rows) {
		all = append(all, &dataset{analysis: j.Analysis, plan: j.Plan, dir: j.Dir, want: j.Want})
	}
	return all
}

// joined returns that one of the statements whose tables are joined in the aggregators.
func joined(t *testing.T, rows int) *dataset {
	t.Helper()
	all := statements(t, rows)
	return all[len(all)-1]
}

// analyse runs bikes over dir, with the configuration that change makes. The client must never see an error.
func (c *cluster) analyse(ctx context.Context, dir string, change func(*client.Config)) []byte {
	c.t.Helper()
	cfg := client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: dir}
	if change != nil {
		change(&cfg)
	}
	a, err := client.Run(ctx, cfg)
	if err != nil {
		c.t.Errorf("the client saw an error: %v", err)
		return nil
	}
	return truth.Queries(c.t, a)
}

// config lets a client upload the dataset.
func (d *dataset) config(cfg *client.Config) {
	if cfg.Analysis, cfg.Plan = d.analysis, d.plan; d.analysis == "bikes" {
		cfg.Columns = columnsOfBikes
	}
}

func (d *dataset) check(t *testing.T, got []byte) {
	t.Helper()
	if !bytes.Equal(got, d.want) {
		at := 0
		for at < len(got) && at < len(d.want) && got[at] == d.want[at] {
			at++
		}
		from := max(0, at-100)
		t.Errorf("answers differ from the oracle's at byte %d:\n got …%.300s\nwant …%.300s", at, got[min(from, len(got)):], d.want[from:])
	}
}

// shared returns the folder with the samples, if there is one.
func shared(name string) (string, bool) {
	root := os.Getenv(envShared)
	if root == "" {
		return "", false
	}
	path := filepath.Join(root, name)
	_, err := os.Stat(path)
	return path, err == nil
}
