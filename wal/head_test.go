package wal

import (
	"os"
	"path/filepath"
	"testing"
)

// TestR8_Identity: the log id stays with the directory, the incarnation grows, and a wiped directory is another log.
func TestR8_Identity(t *testing.T) {
	dir := filepath.Join(tempDir(t), "deep", "down")
	var id Identity
	for i := range 4 {
		l, err := Open(dir, Options{})
		must(t, err)
		got := l.Identity()
		if got.Incarnation != uint64(i+1) || i > 0 && got.LogID != id.LogID || got.LogID == [16]byte{} {
			t.Fatalf("open %d: %+v after %+v", i+1, got, id)
		}
		id = got
		must(t, l.Close())
	}
	must(t, os.RemoveAll(dir))
	l, err := Open(dir, Options{})
	must(t, err)
	if got := l.Identity(); got.LogID == id.LogID || got.Incarnation != 1 {
		t.Fatalf("a wiped directory is %+v, it was %+v", got, id)
	}
	must(t, l.Close())
}

// TestN4_FlippedHead: whichever bit of the head is flipped, no incarnation is used twice, and the log id never changes.
func TestN4_FlippedHead(t *testing.T) {
	w := newWorld(t, tempDir(t), Options{})
	must(t, w.open())
	must(t, w.append(100, "x"))
	must(t, w.append(100, "x"))
	must(t, w.cut(100))
	must(t, w.reopen()) // one slot has the cut, the other also has this life
	must(t, w.close())
	name := filepath.Join(w.dir, headName)
	good, err := os.ReadFile(name)
	must(t, err)
	life := w.life
	for i := range good {
		must(t, os.WriteFile(name, good, filePerm))
		w.life = life
		flip(t, name, i)
		if err := w.open(); err != nil { // the slot with the cut is gone, so the segments before the cut seem to be missing
			wantCorruption(t, "head flipped", err, "")
			continue
		}
		w.check("head flipped")
		must(t, w.close())
	}
}

// TestN4_HeadWithoutGoodSlot is corruption, not a new log.
func TestN4_HeadWithoutGoodSlot(t *testing.T) {
	for _, b := range [][]byte{make([]byte, headFile), nil, []byte("POSTAWAL")} {
		dir, _ := smallLog(t)
		must(t, os.WriteFile(filepath.Join(dir, headName), b, filePerm))
		_, _, err := replayed(t, dir)
		wantCorruption(t, "bad head", err, headName)
	}
}
