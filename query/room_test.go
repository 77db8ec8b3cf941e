package query

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/nodes/inprocess"
	"posta.dev/posta/wal"
)

// scarceDisk has no room for data while full is set.
type scarceDisk struct {
	wal.FS
	full *atomic.Bool
}

func (d scarceDisk) OpenFile(name string, flag int, perm os.FileMode) (wal.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	return scarceFile{f, d.full}, err
}

func (d scarceDisk) Lock(dir string) (io.Closer, error) { return wal.Lock(d.FS, dir) }

type scarceFile struct {
	wal.File
	full *atomic.Bool
}

func (f scarceFile) Write(b []byte) (int, error) {
	if f.full.Load() {
		return 0, &os.PathError{Op: "write", Path: "log", Err: syscall.ENOSPC}
	}
	return f.File.Write(b)
}

func (f scarceFile) WriteAt(b []byte, off int64) (int, error) {
	if f.full.Load() {
		return 0, &os.PathError{Op: "write", Path: "log", Err: syscall.ENOSPC}
	}
	return f.File.WriteAt(b, off)
}

// TestC1_AFullDiskIsAnError: a statement whose nodes have no room ends with an error that names the place, and the same database answers
// once there is room.
func TestC1_AFullDiskIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte("a\n1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := new(atomic.Bool)
	db, err := Open(t.Context(), Config{Data: dir, Small: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	known, disk := analyses.Set{split.New()}, scarceDisk{wal.Unsynced, full}
	db.large, err = inprocess.Cluster(inprocess.Config{Known: known, Dirs: []string{dir}, Disk: disk})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	sum := func() (sum int64, err error) { return sum, db.QueryRow(ctx, "SELECT sum(a) FROM t").Scan(&sum) }
	if got, err := sum(); err != nil || got != 3 {
		t.Fatalf("with room: %d, %v", got, err)
	}
	full.Store(true)
	if _, err := sum(); !errors.Is(err, ErrNoRoom) || !strings.Contains(err.Error(), db.large.Place()) {
		t.Fatalf("without room: %v", err)
	}
	full.Store(false)
	if got, err := sum(); err != nil || got != 3 {
		t.Fatalf("with room again: %d, %v", got, err)
	}
}
