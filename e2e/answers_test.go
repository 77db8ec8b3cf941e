package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"posta/analyses/bikes/bikesoracle"
	"posta/client"
	"posta/gen"
)

// dataset is generated data with the oracle's answers.
type dataset struct {
	dir  string
	want []byte
}

var datasets struct {
	sync.Mutex
	made map[int]*dataset
}

// generated makes data once for all tests of this run; it is removed by the operating system's temporary directory rules of
// the first test that asks, so tests copy nothing.
func generated(t *testing.T, rows int) *dataset {
	t.Helper()
	datasets.Lock()
	defer datasets.Unlock()
	dir := t.TempDir()
	if err := gen.Bikes(gen.OnDisk(dir), rows, uint64(rows)); err != nil {
		t.Fatal(err)
	}
	if d := datasets.made[rows]; d != nil {
		return &dataset{dir, d.want} // the bytes depend on rows and seed alone, so do the answers
	}
	a, err := bikesoracle.Run(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &dataset{dir, queries(t, a)}
	if datasets.made == nil {
		datasets.made = map[int]*dataset{}
	}
	datasets.made[rows] = d
	return d
}

// queries is the part of an answer that does not depend on the session, as compact JSON.
func queries(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var parts struct{ Queries, Rejected json.RawMessage }
	if err := json.Unmarshal(b, &parts); err != nil {
		t.Fatal(err)
	}
	return append(append(parts.Queries, '\n'), parts.Rejected...)
}

// analyse runs bikes over dir. The client must never see an error.
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
	return queries(c.t, a)
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

func deadline(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// shared is the folder with the samples, if there is one.
func shared(name string) (string, bool) {
	root := os.Getenv(envShared)
	if root == "" {
		return "", false
	}
	path := filepath.Join(root, name)
	_, err := os.Stat(path)
	return path, err == nil
}
