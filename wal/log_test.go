package wal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"testing"

	tidwall "github.com/tidwall/wal"
)

func TestW1_EmptyRecordIsInvalid(t *testing.T) {
	w := newWorld(t, tempDir(t), Options{})
	must(t, w.open())
	must(t, w.append(3, "x"))
	for _, parts := range [][][]byte{nil, {}, {nil, {}}} {
		if _, err := w.log.Append(Record{Type: 1, Parts: [][]byte{{1}}}, Record{Type: 1, Parts: parts}); !errors.Is(err, errEmptyRecord) {
			t.Fatalf("parts %v: %v", parts, err)
		}
	}
	if last, err := w.log.Append(); err != nil || last != 3 {
		t.Fatalf("an append of nothing: %d, %v", last, err)
	}
	must(t, w.append(3, "y"))
	w.check("after empty records")
	must(t, w.close())
}

// TestW1_FormatIsTidwalls: tidwall alone reads what the log has written.
func TestW1_FormatIsTidwalls(t *testing.T) {
	w := newWorld(t, tempDir(t), Options{SegmentSize: 1 << 20})
	must(t, w.open())
	must(t, w.append(20, "x"))
	must(t, w.append(1, "y"))
	big := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	_, err := w.log.Append(Record{Type: 7, Parts: [][]byte{big[:10], big[10:100_000], big[100_000:]}})
	must(t, err)
	must(t, w.close())
	l, err := tidwall.Open(filepath.Dir(segmentFile(w.dir, 1)), nil)
	must(t, err)
	defer l.Close()
	for i, want := range append(w.acked, string(big)) {
		b, err := l.Read(uint64(i + 1))
		must(t, err)
		if string(b[headSize:]) != want {
			t.Fatalf("record %d is %q, want %q", i+1, b, want)
		}
	}
}

// TestW6_CutDropsWholeSegments: files that remain are not changed.
func TestW6_CutDropsWholeSegments(t *testing.T) {
	d := newDisk(t, tempDir(t))
	w := newWorld(t, d.root, d.options(Options{}))
	must(t, w.open())
	for range 30 {
		must(t, w.append(4, "x"))
	}
	for to := Index(1); to < w.log.Last(); to += 3 {
		before := len(d.steps)
		size := w.log.Size()
		must(t, w.cut(to))
		if first := w.log.First(); first > to+1 {
			t.Fatalf("cut to %d, first is %d", to, first)
		}
		if len(w.log.segments) > 1 && w.log.segments[1].first <= to+1 {
			t.Fatalf("cut to %d left the segment of %d to %d", to, w.log.segments[0].first, w.log.segments[1].first-1)
		}
		for _, s := range d.steps[before:] {
			if bytes.HasPrefix([]byte(s), []byte("write segments")) {
				t.Fatalf("cut to %d: %s", to, s)
			}
		}
		if w.log.Size() > size {
			t.Fatal("a cut made the log grow")
		}
		w.check("after a cut")
	}
	must(t, w.close())
	w.recovered(d.crash(lost, 0), "after many cuts")
}

func TestReplay_FromAnywhere(t *testing.T) {
	w := newWorld(t, tempDir(t), Options{})
	must(t, w.open())
	for range 20 {
		must(t, w.append(4, "x"))
	}
	must(t, w.cut(30))
	first, last := w.log.First(), w.log.Last()
	if err := w.log.Replay(first-1, nil); !errors.Is(err, ErrGone) {
		t.Fatalf("want ErrGone, got %v", err)
	}
	for from := first; from <= last+2; from++ {
		next := from
		must(t, w.log.Replay(from, func(i Index, typ byte, data []byte) error {
			if i != next || string(data) != w.acked[i-1] {
				return fmt.Errorf("record %d, want %d", i, next)
			}
			next++
			return nil
		}))
		if next != max(last+1, from) {
			t.Fatalf("from %d it ended before %d", from, next)
		}
	}
	stop := errors.New("enough")
	if err := w.log.Replay(first, func(Index, byte, []byte) error { return stop }); err != stop {
		t.Fatalf("the callback's error became %v", err)
	}
	must(t, w.close())
}

// TestReplay_BesideAppendAndCut: goroutines read and save snapshots while another one appends and cuts.
func TestReplay_BesideAppendAndCut(t *testing.T) {
	l, err := Open(tempDir(t), quiet(Options{SegmentSize: 4000}))
	must(t, err)
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				next := Index(0)
				err := l.Replay(0, func(i Index, typ byte, data []byte) error {
					if next != 0 && i != next || string(data) != content(int(i), "") {
						return fmt.Errorf("record %d, want %d: %q", i, next, data)
					}
					next = i + 1
					return nil
				})
				if err != nil && !errors.Is(err, ErrGone) {
					t.Error(err)
				}
				if err := l.SaveSnapshot(l.First()-1, []byte("s")); err != nil && !errors.Is(err, ErrSnapshotIndex) {
					t.Error(err)
				}
			}
		}()
	}
	for i := 1; i <= 400; i++ {
		last, err := l.Append(Record{Parts: [][]byte{[]byte(content(i, ""))}})
		if err != nil || last != Index(i) {
			t.Errorf("append %d: %d, %v", i, last, err)
		}
		if i%50 == 0 {
			if err := l.Cut(last - 20); err != nil {
				t.Error(err)
			}
		}
	}
	close(done)
	readers.Wait()
	must(t, l.Close())
}

func TestClosedLogSaysSo(t *testing.T) {
	l, err := Open(tempDir(t), Options{})
	must(t, err)
	_, err = l.Append(Record{Parts: [][]byte{{1}}})
	must(t, err)
	must(t, l.Close())
	_, appendErr := l.Append(Record{Parts: [][]byte{{1}}})
	_, _, _, loadErr := l.LoadSnapshot()
	for what, err := range map[string]error{
		"append": appendErr, "load": loadErr, "close": l.Close(), "cut": l.Cut(1), "snapshot": l.SaveSnapshot(1),
		"replay": l.Replay(1, func(Index, byte, []byte) error { return nil }),
	} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestW3_RandomLives: random operations with random crashes, again and again on what the last crash left.
func TestW3_RandomLives(t *testing.T) {
	for seed := range int64(25) {
		rng := rand.New(rand.NewSource(seed))
		dir := tempDir(t)
		w := newWorld(t, dir, Options{})
		for life := range 4 {
			label := fmt.Sprintf("seed %d, life %d", seed, life)
			d := newDisk(t, dir)
			w.dir, w.opts = dir, d.options(quiet(Options{SegmentSize: 300 + rng.Intn(2000), Snapshots: 1 + rng.Intn(3)}))
			d.crashAt = 1 + rng.Intn(250)
			if err := randomLife(w, rng); !errors.Is(err, errCrash) && err != nil {
				t.Fatalf("%s: %v", label, err)
			}
			w.abandon()
			image := d.crash(outcome(rng.Intn(int(outcomes))), rng.Int63())
			os.RemoveAll(dir)
			dir = image
			w.recovered(dir, label)
		}
		os.RemoveAll(dir)
	}
}

func randomLife(w *world, rng *rand.Rand) error {
	err := w.open()
	for n := 0; err == nil && n < 60; n++ {
		switch rng.Intn(10) {
		case 0:
			err = w.snapshot()
		case 1:
			if w.hasSnap {
				err = w.cut(w.newest)
			}
		case 2:
			err = w.reopen()
		default:
			err = w.append(1+rng.Intn(12), "random")
		}
	}
	return err
}
