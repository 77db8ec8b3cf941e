package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"
)

// world is a log under test, and the oracle: what must be true of the log.
type world struct {
	t    *testing.T
	opts Options
	dir  string
	log  *Log

	acked     []string         // content of record i+1, for every Append that returned nil
	pending   []string         // contents of the records of the Append that failed
	cutTo     Index            // highest index given to Cut
	snapshots map[Index]string // whose saving returned nil, or is under way
	newest    Index            // the newest whose saving returned nil
	hasSnap   bool
	logID     [16]byte
	life      uint64 // the highest incarnation that an Open returned
	retries   int
}

func quiet(o Options) Options {
	o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	return o
}

const (
	smallSegment = 700
	smallReserve = 900
)

func newWorld(t *testing.T, dir string, o Options) *world {
	if o.SegmentSize == 0 {
		o.SegmentSize = smallSegment
	}
	if o.Reserve == 0 {
		o.Reserve = smallReserve
	}
	return &world{t: t, dir: dir, opts: quiet(o), snapshots: map[Index]string{}}
}

// again repeats an operation once that may be repeated: the disk had no room, and now it has.
func (w *world) again(do func() error) error {
	err := do()
	if errors.Is(err, ErrDiskFull) {
		w.retries++
		err = do()
	}
	return err
}

func (w *world) open() error {
	return w.again(func() error {
		l, err := Open(w.dir, w.opts)
		if err != nil {
			return err
		}
		id := l.Identity()
		if w.life > 0 && id.LogID != w.logID {
			w.t.Errorf("log id changed from %x to %x", w.logID, id.LogID)
		}
		if id.Incarnation <= w.life {
			w.t.Errorf("incarnation %d after %d", id.Incarnation, w.life)
		}
		w.log, w.logID, w.life = l, id.LogID, id.Incarnation
		return nil
	})
}

// content differs from record to record in bytes and length; some records hold long runs of zeros.
func content(i int, salt string) string {
	s := fmt.Sprintf("record %d %s ", i, salt)
	if i%4 == 3 {
		return s + string(make([]byte, 60+i%7))
	}
	return s + string(bytes.Repeat([]byte{byte('a' + i%26)}, i%50))
}

func (w *world) append(n int, salt string) error {
	recs, texts := make([]Record, n), make([]string, n)
	for i := range recs {
		texts[i] = content(len(w.acked)+i+1, salt)
		k := len(texts[i]) / 3
		recs[i] = Record{Type: byte(len(w.acked) + i + 1), Parts: [][]byte{[]byte(texts[i][:k]), nil, []byte(texts[i][k:])}}
	}
	w.pending = texts
	return w.again(func() error {
		before := w.log.Last()
		last, err := w.log.Append(recs...)
		if err != nil {
			if now := w.log.Last(); now != before {
				w.t.Errorf("a failed append moved Last from %d to %d", before, now)
			}
			return err
		}
		w.acked, w.pending = append(w.acked, texts...), nil
		if last != Index(len(w.acked)) {
			w.t.Errorf("append returned %d, want %d", last, len(w.acked))
		}
		return nil
	})
}

func (w *world) snapshot() error {
	at := w.log.Last()
	w.snapshots[at] = fmt.Sprintf("state after %d", at)
	return w.again(func() error {
		err := w.log.SaveSnapshot(at, []byte("state "), nil, []byte(fmt.Sprintf("after %d", at)))
		if err == nil {
			w.newest, w.hasSnap = at, true
		}
		return err
	})
}

func (w *world) cut(to Index) error {
	w.cutTo = max(w.cutTo, to)
	return w.again(func() error { return w.log.Cut(to) })
}

// spend releases a part of the reserve, and refill completes it. Both affect room only.
func (w *world) spend() error {
	before := w.log.Reserved()
	err := w.again(func() error {
		_, err := w.log.Spend(300)
		return err
	})
	if now := w.log.Reserved(); err == nil && now != before-300 {
		w.t.Errorf("%d bytes are reserved, %d of %d were given up", now, 300, before)
	}
	return err
}

// Open may have found no room for it.
func (w *world) makeWhole() error {
	if !w.log.Short() {
		return nil
	}
	w.retries++
	return w.refill()
}

func (w *world) refill() error {
	err := w.again(w.log.Refill)
	if err == nil && w.log.Short() {
		w.t.Errorf("the reserve is %d bytes after it was filled up", w.log.Reserved())
	}
	return err
}

func (w *world) close() error {
	l := w.log
	w.log = nil
	return l.Close()
}

func (w *world) reopen() error {
	if err := w.close(); err != nil {
		return err
	}
	return w.open()
}

// script is a life with every kind of operation. It stops at the first error.
func (w *world) script() error {
	for _, step := range []func() error{
		w.open,
		func() error { return w.append(1, "first") },
		func() error { return w.append(3, "batch") },
		func() error { return w.append(2, "more") },
		func() error { return w.append(9, "rotates") },
		w.snapshot,
		func() error { return w.append(5, "after the snapshot") },
		func() error { return w.append(30, "many in one segment") },
		w.makeWhole,
		w.spend,
		func() error { return w.cut(w.log.Last()) },
		w.snapshot,
		func() error { return w.append(4, "and on") },
		w.refill,
		func() error { return w.cut(w.newest) },
		w.reopen,
		func() error { return w.append(25, "a second life") },
		w.snapshot,
		func() error { return w.append(60, "until it is idle") },
		w.snapshot,
		func() error { return w.cut(w.log.Last()) },
		func() error { return w.append(2, "and wakes up") },
		w.reopen,
		func() error { return w.append(2, "the end") },
		w.close,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// twin is the same oracle for another disk, without a log.
func (w *world) twin() *world {
	v := *w
	v.log, v.acked, v.snapshots = nil, slices.Clone(w.acked), maps.Clone(w.snapshots)
	return &v
}

// abandon drops the log as the death of its process would. It only frees what the test's process holds.
func (w *world) abandon() {
	if w.log != nil {
		_ = w.log.Close()
		w.log = nil
	}
}

// recovered opens what a crash left. It checks that every acknowledged record is there, in order, and nothing that was never appended. Then
// it continues the log, twice.
func (w *world) recovered(dir string, label string) {
	w.abandon()
	w.dir = dir
	o := w.opts
	o.FS = nil
	w.opts = o
	for round := range 2 {
		if err := w.open(); err != nil {
			w.t.Fatalf("%s: recovery %d: %v", label, round+1, err)
		}
		w.check(fmt.Sprintf("%s: recovery %d", label, round+1))
		must(w.t, w.append(3, fmt.Sprint("after recovery ", round)))
		w.check(label + ": after append")
		must(w.t, w.close())
	}
}

func (w *world) check(label string) {
	w.t.Helper()
	if w.t.Failed() {
		w.t.Fatalf("%s: failed before", label)
	}
	first, last := w.log.First(), w.log.Last()
	if int(last) < len(w.acked) || int(last) > len(w.acked)+len(w.pending) {
		w.t.Fatalf("%s: last is %d; %d were acknowledged, %d pending", label, last, len(w.acked), len(w.pending))
	}
	if first > w.cutTo+1 {
		w.t.Fatalf("%s: first is %d, cut to %d", label, first, w.cutTo)
	}
	w.acked = append(w.acked, w.pending[:int(last)-len(w.acked)]...)
	w.pending = nil
	want := first
	must(w.t, w.log.Replay(0, func(i Index, typ byte, data []byte) error {
		if i != want || typ != byte(i) || string(data) != w.acked[i-1] {
			return fmt.Errorf("%s: record %d (expected %d) type %d: %q", label, i, want, typ, data)
		}
		want++
		return nil
	}))
	if want != last+1 {
		w.t.Fatalf("%s: replay ended before %d, last is %d", label, want, last)
	}
	w.checkSnapshot(label, first)
}

func (w *world) checkSnapshot(label string, first Index) {
	w.t.Helper()
	at, data, ok, err := w.log.LoadSnapshot()
	must(w.t, err)
	if !ok && w.hasSnap {
		w.t.Fatalf("%s: no snapshot, though %d was saved", label, w.newest)
	}
	if !ok {
		return
	}
	if at < w.newest || string(data) != w.snapshots[at] || at+1 < first {
		w.t.Fatalf("%s: snapshot %d %q; newest saved is %d, log begins with %d", label, at, data, w.newest, first)
	}
	if !w.hasSnap { // the snapshot was under way, and reached the disk
		w.newest, w.hasSnap = at, true
	}
}
