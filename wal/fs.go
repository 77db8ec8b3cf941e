package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"posta.dev/posta/internal/owned"
)

// FS is the byte seam: everything the log changes on disk goes through it.
type FS interface {
	OpenFile(name string, flag int, perm os.FileMode) (File, error)
	ReadFile(name string) ([]byte, error)
	// ReadDir returns the entries sorted by name. Numbers in names have a fixed length, so that these are in order, too.
	ReadDir(name string) ([]os.DirEntry, error)
	Mkdir(name string, perm os.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	// SyncDir makes the entries of a directory durable: files created, renamed or removed in it (W3).
	SyncDir(name string) error
}

// File is an open file of an FS. Writes go to the end when it was opened with O_APPEND.
type File interface {
	Write(b []byte) (int, error)
	WriteAt(b []byte, off int64) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// osFS is the operating system's file system.
type osFS struct{}

func (osFS) OpenFile(name string, flag int, perm os.FileMode) (File, error) {
	return os.OpenFile(name, flag, perm)
}
func (osFS) ReadFile(name string) ([]byte, error)       { return os.ReadFile(name) }
func (osFS) ReadDir(name string) ([]os.DirEntry, error) { return os.ReadDir(name) }
func (osFS) Mkdir(name string, perm os.FileMode) error  { return os.Mkdir(name, perm) }
func (osFS) Rename(from, to string) error               { return os.Rename(from, to) }
func (osFS) Remove(name string) error                   { return os.Remove(name) }

func (osFS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// heldFS is the operating system's file system with some directories held open, so that syncing them needs no new file
// descriptor. At that point the change is already made and cannot always be undone, so a missing descriptor would fail the log
// for good. Waiting for a descriptor in SyncDir was rejected: nobody would learn what the node waits for, and the wait would
// need a limit.
type heldFS struct {
	osFS
	dirs map[string]*os.File
}

// holdDirs keeps directories open. Other file systems than the operating system's are returned as they are.
func holdDirs(fsys FS, dirs ...string) (FS, error) {
	if _, real := fsys.(osFS); !real {
		return fsys, nil
	}
	h := heldFS{dirs: map[string]*os.File{}}
	for _, name := range dirs {
		d, err := os.Open(name)
		if err != nil {
			return nil, errors.Join(err, h.release())
		}
		h.dirs[filepath.Clean(name)] = d
	}
	return h, nil
}

func (h heldFS) SyncDir(name string) error {
	if d := h.dirs[filepath.Clean(name)]; d != nil {
		return d.Sync()
	}
	return h.osFS.SyncDir(name)
}

func (h heldFS) release() (err error) {
	for _, d := range h.dirs {
		err = errors.Join(err, d.Close())
	}
	return err
}

// Unsynced is the operating system's file system without fsyncs: a crash of the machine loses records that the log calls
// durable, and W3 does not hold. It is for nodes that end with the program that asks, and for measuring what durability costs.
var Unsynced FS = unsynced{}

type unsynced struct{ osFS }

func (unsynced) SyncDir(string) error { return nil }

func (u unsynced) OpenFile(name string, flag int, perm os.FileMode) (File, error) {
	f, err := u.osFS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

type unsyncedFile struct{ File }

func (unsyncedFile) Sync() error { return nil }

const (
	dirPerm  = owned.DirMode
	filePerm = owned.FileMode
)

func syncDir(fsys FS, dir string) error {
	if err := fsys.SyncDir(dir); err != nil {
		return notSynced(dir, err)
	}
	return nil
}

func notSynced(dir string, err error) error {
	return fmt.Errorf("%w: directory %s: %w", errSync, dir, err)
}

func syncFile(f File, name string) error {
	if err := f.Sync(); err != nil {
		return fmt.Errorf("%w: %s: %w", errSync, name, err)
	}
	return nil
}

// makeDir makes dir and its missing parents, each with a durable entry. It also syncs the entry of an existing directory,
// because the process that made it may have died before its sync.
func makeDir(fsys FS, dir string) error {
	err := fsys.Mkdir(dir, dirPerm)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		if err = makeDir(fsys, filepath.Dir(dir)); err == nil {
			err = fsys.Mkdir(dir, dirPerm)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(fsys, filepath.Dir(dir))
}

// writeFile replaces name by a new file with the given content and syncs the file, not its directory.
func writeFile(fsys FS, name string, parts ...[]byte) (err error) {
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, filePerm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, p := range parts {
		if _, err := f.Write(p); err != nil {
			return err
		}
	}
	return syncFile(f, name)
}

// changeFile opens an existing file, changes it, and syncs it.
func changeFile(fsys FS, name string, change func(File) error) (err error) {
	f, err := fsys.OpenFile(name, os.O_WRONLY, filePerm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := change(f); err != nil {
		return err
	}
	return syncFile(f, name)
}

// truncateFile makes the file end at size, durably.
func truncateFile(fsys FS, name string, size int64) error {
	return changeFile(fsys, name, func(f File) error { return f.Truncate(size) })
}

// replaceFile replaces the whole content of name: after a crash there is the old content or the new one. An error before the
// rename leaves the old content. After a failed directory fsync it is unknown which one is there (and the error is final, W4).
func replaceFile(fsys FS, name string, parts ...[]byte) error {
	tmp := name + tmpSuffix
	if err := writeFile(fsys, tmp, parts...); err != nil {
		// Best effort: a temporary file that stays is removed by the next Open.
		_ = fsys.Remove(tmp)
		return err
	}
	if err := fsys.Rename(tmp, name); err != nil {
		_ = fsys.Remove(tmp)
		return err
	}
	return syncDir(fsys, filepath.Dir(name))
}

// removeFile removes name; it is not an error if name does not exist.
func removeFile(fsys FS, name string) error {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readDir lists dir; a missing directory is empty.
func readDir(fsys FS, dir string) ([]os.DirEntry, error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}
