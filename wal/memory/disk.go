// Package memory is a file system for a log in the memory of one process (wal.FS). What is in it ends with the process.
//
//	disk := memory.New(64 << 20, dir)
//	log, err := wal.Open("node", wal.Options{FS: disk})
//	...
//	err = disk.Close()
//
// Its room in memory has a bound. A file that would exceed it moves to a file in dir, which has no name any more, and which therefore also
// ends with the process, however that ends. If dir has no room either, the write fails as on a full disk, with syscall.ENOSPC.
package memory

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"posta.dev/posta/wal"
)

// Disk is a file system in memory. Several goroutines may use it.
type Disk struct {
	below string // where files are that memory has no room for

	mu      sync.Mutex // guards what follows, and all files
	room    int64      // bytes that memory may still take
	entries map[string]*entry
}

var _ wal.FS = (*Disk)(nil)

// entry is a file or a directory.
type entry struct {
	isDir  bool
	gone   bool     // it was removed, and may still be open
	blocks [][]byte // each of blockSize bytes; what is behind size is zero
	size   int64
	file   *os.File // in place of blocks, once memory had no room for it
}

// blockSize is a compromise: many files of a log have some hundred bytes, and most of its bytes are in few files.
const blockSize = 16 << 10

// New returns an empty disk that takes at most room bytes of memory. Files that it has no room for are in the directory below; "" means
// that of temporary files.
func New(room int64, below string) *Disk {
	return &Disk{below: below, room: room, entries: map[string]*entry{}}
}

// Close frees what is in files. The disk must not be used afterwards.
func (d *Disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for name, e := range d.entries {
		errs = append(errs, d.freeLocked(e))
		delete(d.entries, name)
	}
	return errors.Join(errs...)
}

// Lock implements what package wal asks of a file system with locks of its own: no other process sees the disk, and this one opens each log
// once at a time.
func (d *Disk) Lock(string) (io.Closer, error) { return unlocked{}, nil }

type unlocked struct{}

func (unlocked) Close() error { return nil }

// OpenFile implements wal.FS.
func (d *Disk) OpenFile(name string, flag int, _ os.FileMode) (wal.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name = filepath.Clean(name)
	e := d.entries[name]
	switch {
	case e == nil && flag&os.O_CREATE == 0, e == nil && !d.isDirLocked(filepath.Dir(name)):
		return nil, failed("open", name, fs.ErrNotExist)
	case e == nil:
		e = &entry{}
		d.entries[name] = e
	case e.isDir:
		return nil, failed("open", name, syscall.EISDIR)
	case flag&os.O_EXCL != 0:
		return nil, failed("open", name, fs.ErrExist)
	case flag&os.O_TRUNC != 0:
		if err := d.resizeLocked(e, 0); err != nil {
			return nil, failed("open", name, err)
		}
	}
	return &file{d, e, name, flag&os.O_APPEND != 0, 0}, nil
}

// ReadFile implements wal.FS.
func (d *Disk) ReadFile(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, err := d.fileLocked("read", name)
	if err != nil {
		return nil, err
	}
	b := make([]byte, e.size)
	if err := e.readAt(b, 0); err != nil {
		return nil, failed("read", name, err)
	}
	return b, nil
}

// ReadFileAt fills p with the bytes of a file from off on.
func (d *Disk) ReadFileAt(name string, p []byte, off int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, err := d.fileLocked("read", name)
	if err != nil {
		return err
	}
	if off+int64(len(p)) > e.size {
		return failed("read", name, io.ErrUnexpectedEOF)
	}
	if err := e.readAt(p, off); err != nil {
		return failed("read", name, err)
	}
	return nil
}

// ReadDir implements wal.FS.
func (d *Disk) ReadDir(name string) (all []os.DirEntry, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name = filepath.Clean(name)
	if !d.isDirLocked(name) {
		return nil, failed("list", name, fs.ErrNotExist)
	}
	for other, e := range d.entries {
		if filepath.Dir(other) == name && other != name {
			all = append(all, fs.FileInfoToDirEntry(info{filepath.Base(other), e.size, e.isDir}))
		}
	}
	slices.SortFunc(all, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// Mkdir implements wal.FS. The directories above the first one are taken to be there.
func (d *Disk) Mkdir(name string, _ os.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	name = filepath.Clean(name)
	if d.entries[name] != nil {
		return failed("mkdir", name, fs.ErrExist)
	}
	if len(d.entries) > 0 && !d.isDirLocked(filepath.Dir(name)) {
		return failed("mkdir", name, fs.ErrNotExist)
	}
	d.entries[name] = &entry{isDir: true}
	return nil
}

// Rename implements wal.FS. A directory moves with all that is in it.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	from, to = filepath.Clean(from), filepath.Clean(to)
	e, there := d.entries[from], d.entries[to]
	switch {
	case e == nil, !d.isDirLocked(filepath.Dir(to)):
		return failed("rename", from, fs.ErrNotExist)
	case from == to:
		return nil
	case there != nil && (there.isDir || e.isDir):
		return failed("rename", from, fs.ErrExist)
	case there != nil:
		there.gone = true
		if err := d.freeLocked(there); err != nil {
			return failed("rename", from, err)
		}
	}
	moved := map[string]*entry{to: e}
	for name, e := range d.entries {
		if below, is := strings.CutPrefix(name, from+string(filepath.Separator)); is {
			moved[filepath.Join(to, below)] = e
			delete(d.entries, name)
		}
	}
	delete(d.entries, from)
	for name, e := range moved {
		d.entries[name] = e
	}
	return nil
}

// Remove implements wal.FS.
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	name = filepath.Clean(name)
	e := d.entries[name]
	if e == nil {
		return failed("remove", name, fs.ErrNotExist)
	}
	for other := range d.entries {
		if e.isDir && filepath.Dir(other) == name && other != name {
			return failed("remove", name, syscall.ENOTEMPTY)
		}
	}
	delete(d.entries, name)
	e.gone = true
	return d.freeLocked(e)
}

// SyncDir implements wal.FS.
func (d *Disk) SyncDir(string) error { return nil }

func (d *Disk) isDirLocked(name string) bool {
	e := d.entries[name]
	return e != nil && e.isDir
}

func (d *Disk) fileLocked(what, name string) (*entry, error) {
	name = filepath.Clean(name)
	e := d.entries[name]
	switch {
	case e == nil:
		return nil, failed(what, name, fs.ErrNotExist)
	case e.isDir:
		return nil, failed(what, name, syscall.EISDIR)
	}
	return e, nil
}

func failed(what, name string, err error) error { return &fs.PathError{Op: what, Path: name, Err: err} }

// info describes an entry.
type info struct {
	name  string
	size  int64
	isDir bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) IsDir() bool        { return i.isDir }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) Sys() any           { return nil }

func (i info) Mode() fs.FileMode {
	if i.isDir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}
