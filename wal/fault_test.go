package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestW5_NoRoomAtEveryStep lets each step in turn fail because the disk is full, with half of a write done. At the next call there is room
// again: it must succeed, and no record may be there twice or in part. At an fsync the failure is final nevertheless (W4). The same holds
// for a process that has no file descriptor left.
func TestW5_NoRoomAtEveryStep(t *testing.T) {
	for _, with := range []error{errNoSpace, syscall.EMFILE} {
		failEveryStep(t, with, func(t *testing.T, w *world, d *disk, label string, err error) {
			sync := strings.HasPrefix(d.failed, "fsync") || strings.HasPrefix(d.failed, "syncdir") || strings.HasPrefix(d.failed, "close")
			// Open rewrites a segment in place where a new file finds no room.
			// Open continues without its reserve, and so does the log. Where the script calls makeWhole, that is the retry.
			reserve := strings.HasSuffix(d.failed, " "+reserveName)
			inPlace := reserve || strings.Contains(d.failed, " segments/") && (strings.HasSuffix(d.failed, tmpSuffix) ||
				strings.HasPrefix(d.failed, "rename"))
			if noDescriptor(with) && sync {
				// only steps that open a directory fail like this: Open and a new segment can be tried again, and an open log holds its other
				// directories
				return
			}
			if !sync && (err != nil || w.retries == 0 && !inPlace) {
				t.Fatalf("%s: no room must not end the log: %v (retries %d)", label, err, w.retries)
			}
			if sync && err == nil && !strings.HasPrefix(d.failed, "close") {
				t.Fatalf("%s: a failed fsync was survived", label)
			}
		})
	}
}

// TestW5_TheErrorNamesTheMissingDescriptor: the error names what is missing, and what to do.
func TestW5_TheErrorNamesTheMissingDescriptor(t *testing.T) {
	for _, with := range []error{syscall.EMFILE, syscall.ENFILE} {
		err := noRoom(&os.PathError{Op: "open", Path: "x", Err: with})
		if !isNoSpace(with) || !errors.Is(err, ErrDiskFull) || !errors.Is(err, ErrNoDescriptor) || !errors.Is(err, with) ||
			!strings.Contains(err.Error(), "ulimit -n") {
			t.Errorf("%v", err)
		}
	}
	if err := noRoom(errNoSpace); errors.Is(err, ErrNoDescriptor) || !strings.Contains(err.Error(), "make room") {
		t.Errorf("%v", err)
	}
}

// scarce is a file system for a process that has no file descriptor left for a while.
type scarce struct {
	FS
	none bool
	in   string // below this directory of the log; "": everywhere
}

func (s *scarce) OpenFile(name string, flag int, perm os.FileMode) (File, error) {
	if s.none && strings.Contains(name, s.in) {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
	}
	return s.FS.OpenFile(name, flag, perm)
}

// TestW5_NoDescriptorForTheTail: the first append to a segment opens it. If that fails, nothing was written, so nothing has to be undone.
// Undoing would need a descriptor, too, and end the log.
func TestW5_NoDescriptorForTheTail(t *testing.T) {
	dir := t.TempDir()
	fsys := &scarce{FS: osFS{}}
	open := func() *Log {
		l, err := Open(dir, Options{FS: fsys})
		must(t, err)
		return l
	}
	l := open()
	fsys.none = true
	for range 3 {
		if _, err := l.Append(Record{Type: 1, Parts: [][]byte{[]byte("x")}}); !errors.Is(err, ErrDiskFull) || !errors.Is(err, ErrNoDescriptor) {
			t.Fatalf("without a descriptor: %v", err)
		}
	}
	fsys.none = false
	if at, err := l.Append(Record{Type: 1, Parts: [][]byte{[]byte("x")}}); at != 1 || err != nil {
		t.Fatalf("with one again: record %d, %v", at, err)
	}
	must(t, l.Close())
	l = open()
	if l.Last() != 1 {
		t.Errorf("the log ends at record %d", l.Last())
	}
	must(t, l.Close())
}

// fullDisk writes half of the bytes it is given.
type fullDisk struct {
	scarce
	full bool
}

type fullFile struct {
	File
	d *fullDisk
}

func (d *fullDisk) OpenFile(name string, flag int, perm os.FileMode) (File, error) {
	f, err := d.scarce.OpenFile(name, flag, perm)
	return fullFile{f, d}, err
}

func (f fullFile) Write(b []byte) (int, error) {
	if !f.d.full {
		return f.File.Write(b)
	}
	n, err := f.File.Write(b[:len(b)/2])
	return n, errors.Join(err, errNoSpace)
}

// TestW5_AFullDiskAndNoDescriptor: a failed append is undone without a new file descriptor. If the segment were closed, another connection
// could take its descriptor.
func TestW5_AFullDiskAndNoDescriptor(t *testing.T) {
	dir := t.TempDir()
	d := &fullDisk{scarce: scarce{FS: osFS{}}}
	record := Record{Type: 1, Parts: [][]byte{make([]byte, 1000)}}
	l, err := Open(dir, Options{FS: d, SegmentSize: 16 << 10})
	must(t, err)
	_, err = l.Append(record)
	must(t, err)
	for _, large := range []int{1, 17} { // the second begins a segment
		must(t, l.openTailLocked())
		d.full, d.none = true, true
		for range 2 {
			if _, err := l.Append(slices.Repeat([]Record{record}, large)...); !errors.Is(err, ErrDiskFull) {
				t.Fatalf("%d records on a full disk without a descriptor: %v", large, err)
			}
		}
		d.full, d.none = false, false
		_, err = l.Append(record)
		must(t, err)
	}
	must(t, l.Close())
	l, err = Open(dir, Options{})
	must(t, err)
	if l.Last() != 3 {
		t.Errorf("the log ends at record %d", l.Last())
	}
	must(t, l.Close())
}

// noFiles takes all file descriptors of this process except the given number, until the test releases them.
func noFiles(t *testing.T, but int) (giveBack func()) {
	t.Helper()
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: min(old.Cur, 256), Max: old.Max}))
	var taken []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, f)
	}
	for range min(but, len(taken)) {
		must(t, taken[len(taken)-1].Close())
		taken = taken[:len(taken)-1]
	}
	given := false
	giveBack = func() {
		for _, f := range taken {
			must(t, f.Close())
		}
		if !given {
			must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old))
		}
		taken, given = nil, true
	}
	t.Cleanup(giveBack)
	return giveBack
}

// TestW5_NoDescriptorPassesWhateverIsDone: with no, one or two file descriptors, a log appends, begins a segment, saves a snapshot and is
// cut. If a call cannot do so, it names what is missing, and succeeds once there is a descriptor. The lack never ends the log, and no call
// waits.
func TestW5_NoDescriptorPassesWhateverIsDone(t *testing.T) {
	for left := range 3 {
		dir := tempDir(t)
		l, err := Open(dir, Options{SegmentSize: 1 << 10})
		must(t, err)
		for n := range 3 {
			for name, step := range map[string]func() error{
				"append":   func() error { _, err := l.Append(Record{Type: 1, Parts: [][]byte{make([]byte, 900)}}); return err },
				"snapshot": func() error { return l.SaveSnapshot(l.Last(), []byte("state")) },
				"cut":      func() error { return l.Cut(l.Last()) },
				"retry":    func() error { return l.Cut(l.Last() - 1) },
			} {
				giveBack := noFiles(t, left)
				err := step()
				giveBack()
				if err != nil && (!errors.Is(err, ErrNoDescriptor) || errors.Is(err, errFailed)) {
					t.Fatalf("%s with %d descriptors: %v", name, left, err)
				}
				if err := step(); err != nil {
					t.Fatalf("%s with descriptors again, round %d: %v", name, n, err)
				}
			}
		}
		last := l.Last()
		must(t, l.Close())
		l, err = Open(dir, Options{})
		must(t, err)
		if l.Last() != last || last < 3 {
			t.Errorf("the log ends at record %d, and was at %d", l.Last(), last)
		}
		must(t, l.Close())
	}
}

// TestW5_NoDescriptorLosesNoTornTail: the part that is cut is kept, or nothing is cut yet.
func TestW5_NoDescriptorLosesNoTornTail(t *testing.T) {
	dir := tempDir(t)
	l, err := Open(dir, Options{})
	must(t, err)
	_, err = l.Append(Record{Type: 1, Parts: [][]byte{[]byte("x")}})
	must(t, err)
	must(t, l.Close())
	f, err := os.OpenFile(segmentFile(dir, 1), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("torn")
	must(t, err)
	must(t, f.Close())
	fsys := &scarce{FS: osFS{}, in: cutName}
	fsys.none = true
	if _, err := Open(dir, Options{FS: fsys}); !errors.Is(err, ErrNoDescriptor) {
		t.Fatalf("without a descriptor for the copy: %v", err)
	}
	fsys.none = false
	l, err = Open(dir, Options{FS: fsys})
	must(t, err)
	must(t, l.Close())
	kept, err := os.ReadDir(filepath.Join(dir, cutName))
	must(t, err)
	if len(kept) != 1 {
		t.Errorf("%d pieces are kept", len(kept))
	}
}

// TestW4_IOErrorAtEveryStep lets each step in turn fail for good: a write error, a short write, a failed fsync, a failed rename. The log
// must report that, stay failed, and be right when it is opened again.
func TestW4_IOErrorAtEveryStep(t *testing.T) {
	failEveryStep(t, errIO, func(t *testing.T, w *world, d *disk, label string, err error) {
		// Every step counts, except those on the pid file and on temporary files, which may fail.
		if err == nil {
			t.Fatalf("%s: the error was swallowed", label)
		}
		if !errors.Is(err, errIO) {
			t.Fatalf("%s: the cause is lost: %v", label, err)
		}
		if w.retries > 0 {
			t.Fatalf("%s: taken for a full disk: %v", label, err)
		}
	})
}

func failEveryStep(t *testing.T, with error, judge func(*testing.T, *world, *disk, string, error)) {
	steps := stepsOf(t)
	for k := 1; k <= len(steps); k++ {
		label := fmt.Sprintf("%v at step %d (%s)", with, k, steps[k-1])
		d := newDisk(t, tempDir(t))
		d.failAt, d.failWith = k, with
		w := newWorld(t, d.root, d.options(Options{}))
		err := w.script()
		judge(t, w, d, label, err)
		if err != nil {
			wantFinal(t, w, label, err)
		}
		w.abandon()
		image := d.crash(kept, 0)
		w.recovered(image, label)
		os.RemoveAll(image)
		os.RemoveAll(d.root)
	}
}

// wantFinal checks that after a failure of an open log every writing call fails and gives the reason.
func wantFinal(t *testing.T, w *world, label string, cause error) {
	t.Helper()
	if w.log == nil {
		return // Open or Close failed
	}
	if !errors.Is(cause, errFailed) && !errors.Is(cause, errClosed) {
		t.Fatalf("%s: want ErrFailed, got %v", label, cause)
	}
	if _, err := w.log.Append(Record{Parts: [][]byte{{1}}}); !errors.Is(err, errFailed) || !errors.Is(err, errIO) &&
		!errors.Is(err, errNoSpace) && !noDescriptor(err) {
		t.Fatalf("%s: append after the failure: %v", label, err)
	}
	if err := w.log.Cut(1); !errors.Is(err, errFailed) {
		t.Fatalf("%s: cut after the failure: %v", label, err)
	}
	if err := w.log.SaveSnapshot(w.log.Last()); !errors.Is(err, errFailed) {
		t.Fatalf("%s: snapshot after the failure: %v", label, err)
	}
}

// TestW5_LongTimeWithoutRoom: the disk stays full for many attempts. Each leaves the log as it was, and reading still works.
func TestW5_LongTimeWithoutRoom(t *testing.T) {
	d := newDisk(t, tempDir(t))
	w := newWorld(t, d.root, d.options(Options{}))
	must(t, w.open())
	must(t, w.append(5, "before"))
	size := w.log.Size()
	for range 20 {
		// Step 1 of the append may open the writer. Include it, so that the write is what fails.
		must(t, w.log.openTailLocked())
		d.failAt, d.failWith = len(d.steps)+1, errNoSpace
		if _, err := w.log.Append(Record{Type: 1, Parts: [][]byte{make([]byte, 100)}}); !errors.Is(err, ErrDiskFull) {
			t.Fatalf("want ErrDiskFull, got %v", err)
		}
		if !strings.HasPrefix(d.failed, "write ") {
			t.Fatalf("the step that failed is %s", d.failed)
		}
		if w.log.Size() != size {
			t.Fatalf("size %d, want %d", w.log.Size(), size)
		}
		w.check("full disk")
	}
	must(t, w.append(5, "room again"))
	w.check("room again")
	must(t, w.close())
	w.recovered(d.crash(lost, 0), "after a long time without room")
}

// TestW5_CutWorksOnFullDisk: dropping segments needs no room; otherwise a full disk would stay full.
func TestW5_CutWorksOnFullDisk(t *testing.T) {
	d := newDisk(t, tempDir(t))
	w := newWorld(t, d.root, d.options(Options{}))
	must(t, w.open())
	must(t, w.append(100, "much"))
	for range 10 {
		must(t, w.append(20, "more"))
	}
	before := len(d.steps)
	must(t, w.cut(w.log.Last()-1))
	if w.log.First() == 1 {
		t.Fatal("nothing was cut")
	}
	for _, s := range d.steps[before:] {
		if op, _, _ := strings.Cut(s, " "); op != "writeat" && op != "fsync" && op != "remove" && op != "syncdir" {
			t.Errorf("cut needs room for %q", s)
		}
	}
	must(t, w.close())
}

// TestW5_NoRoomToRotate: the name of the segment that a failed rotation made is wrong for any other Append. The segment must be gone for
// good before an Append succeeds.
func TestW5_NoRoomToRotate(t *testing.T) {
	for k := 1; ; k++ {
		d := newDisk(t, tempDir(t))
		w := newWorld(t, d.root, d.options(Options{}))
		must(t, w.open())
		must(t, w.append(3, "before"))
		d.failAt, d.failWith = len(d.steps)+k, errNoSpace
		big := make([]Record, 30)
		for i := range big {
			big[i] = Record{Type: 1, Parts: [][]byte{make([]byte, 40)}}
		}
		if _, err := w.log.Append(big...); err == nil || errors.Is(err, errFailed) {
			w.abandon()
			if k > 6 {
				return // the failure came too late to have an effect
			}
			continue // an fsync
		} else if !errors.Is(err, ErrDiskFull) {
			t.Fatal(err)
		}
		label := "no room for " + d.failed
		for range 30 { // beyond the place of the next segment, with other numbers of records
			must(t, w.append(2, "after"))
		}
		w.check(label)
		w.abandon()
		w.recovered(d.crash(lost, 0), label)
	}
}
