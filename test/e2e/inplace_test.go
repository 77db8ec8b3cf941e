package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// inPlace returns a variant whose inputs read what is below dir, in small pieces.
func inPlace(v topology.Variant, dir string) topology.Variant {
	v.Roots = []string{dir}
	v.Settings = map[string]string{"limits.chunk": "16KiB", "limits.commit": "64KiB"}
	return v
}

// watched is a configuration that counts what was read where it lies, and what there was to read.
type watched struct{ inPlace, total atomic.Int64 }

func (w *watched) config(cfg *client.Config) {
	cfg.OnProgress = func(p client.Progress) {
		place, total := int64(0), int64(0)
		for _, s := range p.Streams {
			place, total = place+s.InPlace, total+s.Total
		}
		w.inPlace.Store(place)
		w.total.Store(total)
	}
}

// TestS8_InPlaceEveryAnalysis: the answers are the oracle's with any number of inputs, and all but the headers is read where it lies.
func TestS8_InPlaceEveryAnalysis(t *testing.T) {
	for i, analysis := range []string{"bikes", "flights", "movies", "memes"} {
		d := generatedFor(t, analysis, 20_000)
		for j, inputs := range []int{1, 3} {
			if (i+j)%2 == 1 && !*long && !raced {
				continue // each analysis, and both numbers
			}
			t.Run(fmt.Sprintf("%s, %d inputs", analysis, inputs), func(t *testing.T) {
				c := start(t, inPlace(topology.Variant{Replicas: map[string]int{"input": inputs}, SplitParsers: inputs == 3, JoinInInput: inputs == 1},
					d.dir))
				var w watched
				d.check(t, c.analyse(deadline(t), d.dir, func(cfg *client.Config) {
					d.config(cfg)
					w.config(cfg)
				}))
				if read, all := w.inPlace.Load(), w.total.Load(); read < all-100_000 || read < all/2 {
					t.Errorf("%d of %d bytes were read where they lie", read, all)
				}
			})
		}
	}
}

// inColumns returns a dataset in Parquet, of which files have several parts. What is wanted is the answer of files that were sent.
func inColumns(t *testing.T, rows int) *dataset {
	t.Helper()
	d := generated(t, rows)
	d.rewrite(t, inParquet())
	got := start(t, topology.Variant{}).analyse(deadline(t), d.dir, d.config)
	(&dataset{want: withoutReasons(t, d.want, nil)}).check(t, withoutReasons(t, got, nil))
	d.want = got
	return d
}

// TestE13_ColumnsInPlace: the answers are those of files that are sent, with any number of inputs, and files are read where they lie.
func TestE13_ColumnsInPlace(t *testing.T) {
	d := inColumns(t, 150_000)
	for _, inputs := range []int{1, 3} {
		c := start(t, inPlace(topology.Variant{Replicas: map[string]int{"input": inputs}, SplitParsers: inputs == 3, JoinInInput: inputs == 1},
			d.dir))
		var w watched
		d.check(t, c.analyse(deadline(t), d.dir, func(cfg *client.Config) {
			d.config(cfg)
			w.config(cfg)
		}))
		if read, all := w.inPlace.Load(), w.total.Load(); read < all*9/10 {
			t.Errorf("%d of %d bytes were read where they lie", read, all)
		}
	}
}

// TestS8_KillAndPauseInPlace: inputs die and stop in the middle of files, of text and of columns.
func TestS8_KillAndPauseInPlace(t *testing.T) {
	beside(t)
	d, columns := generated(t, 300_000), inColumns(t, 300_000)
	for _, seed := range stormSeeds() {
		v := inPlace(twoOfEach(), d.dir)
		v.Roots = append(v.Roots, columns.dir)
		c := start(t, v)
		c.storm([]*dataset{d, columns}, few(24), 300*time.Millisecond, seed, func(r *rand.Rand, id topology.NodeID) {
			if r.IntN(2) == 0 { // an input, half of the time
				id = topology.NodeID(fmt.Sprintf("input-%d", 1+r.IntN(2)))
			}
			if r.IntN(3) > 0 {
				c.signal(id, syscall.SIGKILL)
				return
			}
			c.signal(id, syscall.SIGSTOP)
			time.Sleep(time.Duration(r.Int64N(int64(300 * time.Millisecond))))
			c.signal(id, syscall.SIGCONT)
		})
	}
}

// TestS8_WhatIsNotReadInPlaceIsSent: a link that leads out of the root, which the client may follow and a node may not.
func TestS8_WhatIsNotReadInPlaceIsSent(t *testing.T) {
	d := generated(t, 5_000)
	dir := t.TempDir()
	if err := clustertest.CopyDirectory(d.dir, dir); err != nil {
		t.Fatal(err)
	}
	trips, err := filepath.Glob(filepath.Join(dir, "*", "trips.csv"))
	if err != nil || len(trips) == 0 {
		t.Fatal(trips, err)
	}
	outside := filepath.Join(t.TempDir(), "trips.csv")
	if err := errors.Join(os.Rename(trips[0], outside), os.Symlink(outside, trips[0])); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(outside)
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, inPlace(topology.Variant{Replicas: map[string]int{"input": 2}}, dir))
	var w watched
	d.check(t, c.analyse(deadline(t), dir, w.config))
	if sent := w.total.Load() - w.inPlace.Load(); sent < info.Size()/2 || w.inPlace.Load() == 0 {
		t.Errorf("%d bytes were sent and %d read, and the file outside has %d", sent, w.inPlace.Load(), info.Size())
	}
}

// TestS8_AFileThatGrowsFailsTheSession, with what it was, what it is, and what to do. Files may grow after they were read, and a test that
// had to wait for a processor is late: then it begins again.
func TestS8_AFileThatGrowsFailsTheSession(t *testing.T) {
	d := generated(t, 100_000)
	root := t.TempDir()
	v := inPlace(topology.Variant{Replicas: map[string]int{"joiner": 1}}, root)
	v.Settings["limits.window"] = "64KiB"
	c := start(t, v)
	ctx := deadline(t)
	for try := range 40 {
		dir := filepath.Join(root, fmt.Sprint(try))
		if err := clustertest.CopyDirectory(d.dir, dir); err != nil {
			t.Fatal(err)
		}
		r := c.begin(ctx, client.Config{Dir: dir})
		await.Until(t, "the files of trips are being read", func() bool { return r.ended() || r.acked("trips") > 0 })
		c.signal("joiner-1", syscall.SIGSTOP) // the rest waits for room
		grow(t, dir)
		c.signal("joiner-1", syscall.SIGCONT)
		<-r.done
		if r.err == nil {
			t.Logf("try %d: the files had been read when they grew", try)
			continue
		}
		for _, part := range []string{dir, "the file has changed", "bytes", "start the session again"} {
			if !errors.Is(r.err, client.ErrInput) || !strings.Contains(r.err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, r.err)
			}
		}
		return
	}
	t.Fatal("every session whose files grew while they were read has an answer")
}

// grow appends a line to each file of trips below a directory.
func grow(t *testing.T, dir string) {
	t.Helper()
	trips, err := filepath.Glob(filepath.Join(dir, "*", "trips.csv"))
	if err != nil || len(trips) == 0 {
		t.Fatal(trips, err)
	}
	for _, name := range trips {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString("x\n")
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
