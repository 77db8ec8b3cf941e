package wal

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestW5_TheReserveMakesRoom: the log itself fills the disk, and another process takes every byte that becomes free. The reserve gives
// room, piece by piece, for what must be stored before the log may be cut. Then the log is cut, and the reserve is complete again.
func TestW5_TheReserveMakesRoom(t *testing.T) {
	d := newDisk(t, tempDir(t))
	d.capacity = 40 << 10
	w := newWorld(t, d.root, d.options(Options{Reserve: 12 << 10, SegmentSize: 8 << 10}))
	must(t, w.open())
	if w.log.Reserved() != 12<<10 || w.log.Short() {
		t.Fatalf("%d bytes are reserved", w.log.Reserved())
	}
	block := Record{Type: 1, Parts: [][]byte{make([]byte, 1000)}}
	var err error
	for err == nil {
		_, err = w.log.Append(block)
	}
	if !errors.Is(err, ErrDiskFull) {
		t.Fatal(err)
	}
	ballast := d.capacity - d.tree.bytes()
	d.capacity -= ballast // another process has it

	spends := 0
	inReserve := func(need int64, do func() error) {
		t.Helper()
		if err := do(); err == nil {
			return
		} else if !errors.Is(err, ErrDiskFull) {
			t.Fatal(err)
		}
		spends++
		spend(t, w.log, need)
		must(t, do())
		d.capacity = d.tree.bytes() // another process takes all the rest
	}
	inReserve(2000, func() error { _, err := w.log.Append(block); return err })
	last := w.log.Last()
	inReserve(1000, func() error { return w.log.SaveSnapshot(last, []byte("small")) })
	inReserve(2000, func() error { return w.log.Cut(last) })
	if spends < 2 || w.log.Size() != 0 || w.log.Reserved() < 4<<10 {
		t.Errorf("%d pieces, a log of %d bytes, %d bytes are still reserved", spends, w.log.Size(), w.log.Reserved())
	}
	before := w.log.Reserved()
	if err := w.log.Refill(); !errors.Is(err, ErrDiskFull) || !w.log.Short() || w.log.Reserved() < before {
		t.Errorf("there is no room: %v, %d bytes are reserved", err, w.log.Reserved())
	}
	d.capacity += 20 << 10
	must(t, w.log.Refill())
	if w.log.Short() {
		t.Errorf("%d bytes are reserved", w.log.Reserved())
	}
	must(t, w.close())
}

// TestW5_ALogWithoutRoomForItsReserve opens and works, reports that its reserve is incomplete, and completes it when there is room. A part
// that a crash has left counts. A reserve that is larger than asked for is cut.
func TestW5_ALogWithoutRoomForItsReserve(t *testing.T) {
	d := newDisk(t, tempDir(t))
	d.capacity = 3000
	w := newWorld(t, d.root, d.options(Options{Reserve: 4 << 10}))
	must(t, w.open())
	must(t, w.append(3, "works"))
	if !w.log.Short() || w.log.Reserved() != 0 {
		t.Errorf("%d bytes are reserved on a disk of 3000", w.log.Reserved())
	}
	if given, err := w.log.Spend(100); given || err != nil {
		t.Errorf("there is no reserve, and it is given up: %v", err)
	}
	d.capacity = 0
	must(t, w.log.Refill())
	must(t, w.close())
	must(t, os.Truncate(filepath.Join(d.root, reserveName), 77))
	w.opts = newDisk(t, d.root).options(Options{Reserve: 4 << 10, Logger: w.opts.Logger})
	must(t, w.open())
	if w.log.Reserved() != 4<<10 {
		t.Errorf("%d bytes are reserved", w.log.Reserved())
	}
	w.check("after the reserve was cut")
	must(t, w.close())
	w.opts = newDisk(t, d.root).options(Options{Reserve: 1 << 10, Logger: w.opts.Logger})
	must(t, w.open())
	info, err := os.Stat(filepath.Join(d.root, reserveName))
	must(t, err)
	if w.log.Reserved() != 1<<10 || info.Size() != 1<<10 {
		t.Errorf("%d bytes are reserved in a file of %d", w.log.Reserved(), info.Size())
	}
	must(t, w.close())
	if _, err := w.openedAgain().Spend(1); !errors.Is(err, errClosed) {
		t.Errorf("a closed log gives up its reserve: %v", err)
	}
}

func spend(t *testing.T, l *Log, bytes int64) {
	t.Helper()
	if given, err := l.Spend(bytes); err != nil || !given {
		t.Fatalf("nothing of the reserve is given up: %v", err)
	}
}

// openedAgain opens the log, closes it, and returns it.
func (w *world) openedAgain() *Log {
	must(w.t, w.open())
	l := w.log
	must(w.t, w.close())
	return l
}

// TestW5_TheReserveIsRoom: on a real disk the reserve occupies blocks, and not only has a length.
func TestW5_TheReserveIsRoom(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, quiet(Options{Reserve: 3 << 20}))
	must(t, err)
	blocks := func() int64 {
		info, err := os.Stat(filepath.Join(dir, reserveName))
		must(t, err)
		return info.Sys().(*syscall.Stat_t).Blocks * 512
	}
	if blocks() < 3<<20 {
		t.Errorf("a reserve of 3 MiB takes %d bytes on the disk", blocks())
	}
	spend(t, l, 2<<20)
	if b := blocks(); b > 3<<19 {
		t.Errorf("2 MiB of 3 are given up, and %d bytes are taken", b)
	}
	must(t, l.Close())
}
