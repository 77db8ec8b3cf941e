package wal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestW3_FilesAtEveryCrash: a file is there, complete, after a crash at any step if SaveFile has returned. A dropped file may still be
// there until the sweep. The sweep removes every file that it was not told to keep, and no other.
func TestW3_FilesAtEveryCrash(t *testing.T) {
	content := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 5000+i) }
	d := newDisk(t, tempDir(t))
	l, err := Open(d.root, d.options(Options{}))
	must(t, err)
	saved := map[string][]byte{}
	crashed := 0
	d.before = func() {
		for o, seed := range map[outcome]int64{lost: 1, kept: 1, torn: 2} {
			crashed++
			image := d.crash(o, seed)
			again, err := Open(image, Options{})
			must(t, err)
			var keep []string
			for name, want := range saved {
				keep = append(keep, name)
				got := make([]byte, len(want))
				if err := again.ReadFileAt(name, got, 0); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("step %d, unsynced %v: file %s: %v", len(d.steps), o, name, err)
				}
			}
			must(t, again.SweepFiles(keep))
			left, err := os.ReadDir(filepath.Join(image, filesDir))
			if err != nil && !os.IsNotExist(err) || len(left) != len(keep) {
				t.Fatalf("step %d: after the sweep there are %v, want %v, %v", len(d.steps), left, keep, err)
			}
			must(t, again.SaveFile("another", content(1)))
			must(t, again.Close())
			os.RemoveAll(image)
		}
	}
	for i := range 4 {
		name := fmt.Sprint("f", i)
		must(t, l.SaveFile(name, content(i)))
		saved[name] = content(i)
		if i == 2 {
			delete(saved, "f0")
			must(t, l.DropFiles("f0", "never"))
		}
	}
	must(t, l.SaveFile("f1", content(1))) // as after a crash
	d.before()
	if crashed < 30 {
		t.Errorf("%d crashes", crashed)
	}
	if err := l.ReadFileAt("f1", make([]byte, 10), 5000); err == nil {
		t.Error("what is behind the end of a file is read")
	}
	if err := l.ReadFileAt("f0", make([]byte, 1), 0); err == nil {
		t.Error("a file that was dropped is read")
	}
	must(t, l.Close())
}

// TestReadFileAt_ReadsOnlyWhatIsAsked: a file that does not fit into memory is read at a place, with and without fsyncs.
func TestReadFileAt_ReadsOnlyWhatIsAsked(t *testing.T) {
	name := filepath.Join(t.TempDir(), "sparse")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	const at = 1 << 38
	_, err = f.WriteAt([]byte("here"), at)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, fsys := range []FS{osFS{}, Unsynced} {
		p := make([]byte, 4)
		if err := ReadFileAt(fsys, name, p, at); err != nil || string(p) != "here" {
			t.Errorf("%T: %q, %v", fsys, p, err)
		}
	}
}
