package wal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestW4_AFailedFsyncIsNotTrustedLater lets each fsync of a file fail in turn. The kernel then takes the pages for clean, and the process
// ends. The next process reads from memory what is not on the disk, and its own fsyncs succeed. The records that it has found, and those it
// appends, must survive when the machine dies, even if the disk was full when it started.
func TestW4_AFailedFsyncIsNotTrustedLater(t *testing.T) {
	inPlace := 0
	for k, step := range stepsOf(t) {
		if !strings.HasPrefix(step, "fsync ") {
			continue
		}
		for _, full := range []bool{false, true} {
			label := fmt.Sprintf("step %d (%s) fails, disk full at the next start: %v", k+1, step, full)
			d := newDisk(t, tempDir(t))
			d.failAt, d.failWith = k+1, errIO
			w := newWorld(t, d.root, d.options(Options{}))
			if err := w.script(); !errors.Is(err, errIO) {
				t.Fatalf("%s: %v", label, err)
			}
			w.abandon()
			if d.full = full && w.life > 0; full && w.life == 0 {
				continue // there is no log yet with which a restart could continue
			}
			before := len(d.steps)
			if err := w.open(); err != nil {
				t.Fatalf("%s: the next start: %v", label, err)
			}
			for _, s := range d.steps[before:] {
				if strings.HasPrefix(s, "writeat segments/") {
					inPlace++
				}
			}
			w.check(label)
			d.full = false
			image := d.crash(lost, 0)
			w.twin().recovered(image, label+": the machine dies at once")
			os.RemoveAll(image)
			must(t, w.append(3, "continues"))
			must(t, w.log.lock.Close())
			w.log = nil
			w.recovered(d.crash(lost, 0), label)
			os.RemoveAll(w.dir)
			os.RemoveAll(d.root)
		}
	}
	if inPlace == 0 {
		t.Error("no start rewrote records in place: this test shows nothing of full disks")
	}
}

// TestW4_OnlyTheLastAppendIsRewrittenInPlace: acknowledged records before it are not touched.
func TestW4_OnlyTheLastAppendIsRewrittenInPlace(t *testing.T) {
	b, off := segmentBytes([]int{100, 200}, []int{300}, []int{50, 60, 70})
	if s := scanSegment(b, 1, nil); s.lastAppend != int64(off[3]) || !s.whole() {
		t.Errorf("the last append begins at %d, want %d", s.lastAppend, off[3])
	}
	if s := scanSegment(b[:off[5]+3], 1, nil); s.lastAppend != int64(off[3]) || s.end != int64(off[5]) {
		t.Errorf("torn: the last append begins at %d, want %d", s.lastAppend, off[3])
	}
	if s := scanSegment(b[:off[3]+1], 1, nil); s.lastAppend != int64(off[2]) {
		t.Errorf("all of it torn: the last append begins at %d, want %d", s.lastAppend, off[2])
	}
}

// TestW5_ATornTailOnAFullDisk: without room for a copy of the torn tail, the node starts without the copy.
func TestW5_ATornTailOnAFullDisk(t *testing.T) {
	d := newDisk(t, tempDir(t))
	w := newWorld(t, d.root, d.options(Options{}))
	must(t, w.open())
	must(t, w.append(4, "whole"))
	must(t, w.close())
	f, err := os.OpenFile(segmentFile(w.dir, 1), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("half a record")
	must(t, errors.Join(err, f.Close()))
	w.opts = newDisk(t, w.dir).options(w.opts) // the disk has to know this directory
	w.opts.FS.(*disk).full = true
	must(t, w.open())
	w.check("no room")
	w.opts.FS.(*disk).full = false
	must(t, w.append(2, "room again"))
	must(t, w.close())
	w.recovered(w.dir, "afterwards")
}
