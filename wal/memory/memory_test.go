package memory_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/wal"
	"posta.dev/posta/wal/memory"
)

// TestDisk_DoesWhatTheSystemDoes changes a disk in memory and a directory alike, at random, with room for everything, for some files, and
// for none. All that can be read is the same.
func TestDisk_DoesWhatTheSystemDoes(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r, real := rand.New(rand.NewPCG(seed, 1)), t.TempDir()
			disk := memory.New([]int64{1 << 20, 100 << 10, 0}[seed%3], t.TempDir())
			defer func() {
				if err := disk.Close(); err != nil {
					t.Error(err)
				}
			}()
			if err := disk.Mkdir("/d", 0o700); err != nil {
				t.Fatal(err)
			}
			both := func(do func(fsys wal.FS, top string) (string, error)) {
				t.Helper()
				got, err := do(disk, "/d")
				want, wantErr := do(wal.Unsynced, real)
				for _, kind := range []error{fs.ErrNotExist, fs.ErrExist} {
					if errors.Is(err, kind) != errors.Is(wantErr, kind) {
						t.Fatalf("%v, want %v", err, wantErr)
					}
				}
				if got != want || (err == nil) != (wantErr == nil) {
					t.Fatalf("%q, %v; want %q, %v", short(got), err, short(want), wantErr)
				}
			}
			name := func() string { return []string{"a", "b", "c", "x/a", "x/b", "y/a"}[r.IntN(6)] }
			for range 120 {
				step(r, name, both)
			}
		})
	}
}

// step does one thing on both sides.
func step(r *rand.Rand, name func() string, both func(func(wal.FS, string) (string, error))) {
	a, b := name(), name()
	data := bytes.Repeat([]byte{byte('a' + r.IntN(26))}, r.IntN(3)*r.IntN(20_000)+r.IntN(9))
	at, size := int64(r.IntN(40_000)), int64(r.IntN(40_000))
	flag := []int{os.O_CREATE | os.O_WRONLY | os.O_APPEND, os.O_CREATE | os.O_WRONLY | os.O_TRUNC, os.O_WRONLY}[r.IntN(3)]
	changes := r.IntN(8)
	both(func(fsys wal.FS, top string) (string, error) {
		a, b := filepath.Join(top, a), filepath.Join(top, b)
		switch changes {
		case 0:
			return "", fsys.Mkdir(filepath.Dir(a), 0o700)
		case 1:
			if filepath.Dir(a) != top && at%2 == 0 {
				a, b = filepath.Dir(a), filepath.Join(top, fmt.Sprint("moved", at)) // a directory
			}
			return "", fsys.Rename(a, b)
		case 2:
			return "", fsys.Remove(a)
		case 3:
			return listed(fsys, top)
		}
		f, err := fsys.OpenFile(a, flag, 0o600)
		if err != nil {
			return "", err
		}
		switch {
		case changes == 4:
			err = f.Truncate(size)
		case changes == 5 && flag&os.O_APPEND == 0:
			_, err = f.WriteAt(data, at)
		default:
			_, err = f.Write(data)
		}
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			return "", err
		}
		all, err := fsys.ReadFile(a)
		part := make([]byte, len(all)/3)
		if err == nil {
			err = wal.ReadFileAt(fsys, a, part, int64(len(all)/2))
		}
		return string(all) + "|" + string(part), err
	})
}

// listed returns the names below a directory, and how long the files are.
func listed(fsys wal.FS, dir string) (string, error) {
	var b strings.Builder
	entries, err := fsys.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			below, err := listed(fsys, filepath.Join(dir, e.Name()))
			fmt.Fprintf(&b, "%s(%s %v) ", e.Name(), below, err)
			continue
		}
		info, err := e.Info()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s:%d ", e.Name(), info.Size())
	}
	return b.String(), err
}

func short(text string) string { return text[:min(len(text), 60)] }

// TestDisk_MovesWhatHasNoRoom: a file that exceeds the room in memory continues where no other program can open it, and what it took in
// memory is there for others. Without a place for it the write fails, and leaves the file as it was.
func TestDisk_MovesWhatHasNoRoom(t *testing.T) {
	below := t.TempDir()
	disk := memory.New(256<<10, below)
	if err := disk.Mkdir("d", 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name string, size int) error {
		f, err := disk.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(bytes.Repeat([]byte{7}, size))
		return errors.Join(err, f.Close())
	}
	for range 4 {
		if err := write("d/large", 200<<10); err != nil {
			t.Fatal(err)
		}
	}
	if err := write("d/small", 200<<10); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(below); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v: others can open what was moved", entries, err)
	}
	if err := os.Remove(below); err != nil {
		t.Fatal(err)
	}
	if err := write("d/small", 200<<10); err == nil {
		t.Error("there is room that should not be there")
	}
	for name, size := range map[string]int{"d/large": 800 << 10, "d/small": 200 << 10} {
		if b, err := disk.ReadFile(name); err != nil || len(b) != size || bytes.Count(b, []byte{7}) != size {
			t.Errorf("%s has %d bytes, %v; want %d", name, len(b), err, size)
		}
	}
	if err := disk.Close(); err != nil {
		t.Error(err)
	}
}

// TestDisk_HoldsALog: a log in memory is opened again, with its records, its snapshot and its files, and after it was retired.
func TestDisk_HoldsALog(t *testing.T) {
	disk := memory.New(64<<10, t.TempDir())
	open := func() *wal.Log {
		l, err := wal.Open("above/log", wal.Options{FS: disk, SegmentSize: 64 << 10})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := open()
	for i := range 40 {
		if _, err := l.Append(wal.Record{Type: 1, Parts: [][]byte{bytes.Repeat([]byte{byte(i)}, 9<<10)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(l.SaveSnapshot(20, []byte("state")), l.SaveFile("run", make([]byte, 100<<10)), l.Close()); err != nil {
		t.Fatal(err)
	}
	l = open()
	at, state, ok, err := l.LoadSnapshot()
	if err != nil || !ok || at != 20 || string(state) != "state" {
		t.Errorf("snapshot %d %q %v, %v", at, state, ok, err)
	}
	n := 0
	err = l.Replay(21, func(i wal.Index, _ byte, data []byte) error {
		if n++; len(data) != 9<<10 || data[0] != byte(i-1) {
			return fmt.Errorf("record %d has %d bytes of %d", i, len(data), data[0])
		}
		return nil
	})
	if err != nil || n != 20 {
		t.Errorf("%d records, %v", n, err)
	}
	if err := errors.Join(l.ReadFileAt("run", make([]byte, 10<<10), 90<<10), l.Close(), disk.Close()); err != nil {
		t.Error(err)
	}
}
