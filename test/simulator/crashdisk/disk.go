// Package crashdisk is a file system in memory that knows what would survive a crash of the machine: the synced bytes of each file, and the
// synced entries of each directory. It is for tests.
//
// Each change of the disk is a step. Fault is called before each step, and can make it fail, or make only half of a write happen. Crash
// returns the disk as it would be found after a power failure: what was not synced is lost, kept, or torn into pieces that are lost or
// kept independently of each other.
//
// Names are paths as in package path/filepath; the root exists from the start. One goroutine owns a disk.
package crashdisk

import (
	"bytes"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/internal/owned"
)

// Disk is a file system in memory.
type Disk struct {
	// Fault, if not nil, is called before each step. If it returns an error, the step fails with it; with half, half of a write happens
	// first.
	Fault func(op, name string) (half bool, err error)

	root   *entry
	locked map[string]bool
}

// entry is a file or a directory, as it is now and as it was last synced. Bytes are never changed in place, so copies may share them.
type entry struct {
	dir          bool
	now, durable map[string]*entry
	data, synced []byte
}

// New returns an empty disk.
func New() *Disk { return &Disk{root: newDir(), locked: map[string]bool{}} }

func newDir() *entry {
	return &entry{dir: true, now: map[string]*entry{}, durable: map[string]*entry{}}
}

func (d *Disk) step(op, name string) (half bool, err error) {
	if d.Fault == nil {
		return false, nil
	}
	half, err = d.Fault(op, name)
	if err != nil {
		err = &fs.PathError{Op: op, Path: name, Err: err}
	}
	return half, err
}

// find returns the entry of a path and the directory that holds it, nil for those that do not exist.
func (d *Disk) find(name string) (parent, e *entry) {
	e = d.root
	for _, part := range strings.Split(filepath.Clean(name), string(filepath.Separator)) {
		if part == "" || part == "." {
			continue
		}
		if e == nil || !e.dir {
			return nil, nil
		}
		parent, e = e, e.now[part]
	}
	return parent, e
}

func missing(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// OpenFile opens a file for writing. os.O_CREATE, os.O_TRUNC and os.O_APPEND have their usual meaning.
func (d *Disk) OpenFile(name string, flag int) (*File, error) {
	parent, e := d.find(name)
	switch {
	case e == nil && (flag&os.O_CREATE == 0 || parent == nil):
		return nil, missing("open", name)
	case e != nil && e.dir:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if flag&os.O_CREATE != 0 {
		if _, err := d.step("create", name); err != nil {
			return nil, err
		}
	}
	if e == nil {
		e = &entry{}
		parent.now[filepath.Base(name)] = e
	}
	if flag&os.O_TRUNC != 0 {
		e.data = nil
	}
	return &File{d: d, e: e, name: name, appends: flag&os.O_APPEND != 0}, nil
}

// ReadFile returns the bytes of a file as they are now.
func (d *Disk) ReadFile(name string) ([]byte, error) {
	_, e := d.find(name)
	if e == nil || e.dir {
		return nil, missing("read", name)
	}
	return bytes.Clone(e.data), nil
}

// ReadDir returns the entries of a directory, sorted by name.
func (d *Disk) ReadDir(name string) ([]os.DirEntry, error) {
	_, e := d.find(name)
	if e == nil || !e.dir {
		return nil, missing("readdir", name)
	}
	all := make([]os.DirEntry, 0, len(e.now))
	for _, n := range sortedKeys(e.now) {
		all = append(all, fs.FileInfoToDirEntry(info{n, e.now[n]}))
	}
	return all, nil
}

// Mkdir makes a directory.
func (d *Disk) Mkdir(name string) error {
	parent, e := d.find(name)
	switch {
	case e != nil:
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	case parent == nil:
		return missing("mkdir", name)
	}
	if _, err := d.step("mkdir", name); err != nil {
		return err
	}
	parent.now[filepath.Base(name)] = newDir()
	return nil
}

// Rename moves an entry. It replaces an entry that has the new name.
func (d *Disk) Rename(from, to string) error {
	fp, e := d.find(from)
	tp, _ := d.find(to)
	if e == nil || tp == nil {
		return missing("rename", from)
	}
	if _, err := d.step("rename", to); err != nil {
		return err
	}
	delete(fp.now, filepath.Base(from))
	tp.now[filepath.Base(to)] = e
	return nil
}

// Remove removes a file, or a directory that is empty.
func (d *Disk) Remove(name string) error {
	parent, e := d.find(name)
	switch {
	case e == nil:
		return missing("remove", name)
	case len(e.now) > 0:
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrExist}
	}
	if _, err := d.step("remove", name); err != nil {
		return err
	}
	delete(parent.now, filepath.Base(name))
	return nil
}

// SyncDir makes the entries of a directory durable.
func (d *Disk) SyncDir(name string) error {
	_, e := d.find(name)
	if e == nil {
		return missing("syncdir", name)
	}
	if _, err := d.step("syncdir", name); err != nil {
		return err
	}
	e.durable = map[string]*entry{}
	for n, child := range e.now {
		e.durable[n] = child
	}
	return nil
}

// Lock locks a directory for one holder; false if it is locked. Locks do not survive a crash.
func (d *Disk) Lock(name string) (io.Closer, bool) {
	name = filepath.Clean(name)
	if d.locked[name] {
		return nil, false
	}
	d.locked[name] = true
	return &lock{d, name}, true
}

type lock struct {
	d    *Disk
	name string
}

func (l *lock) Close() error {
	delete(l.d.locked, l.name)
	return nil
}

// File is an open file.
type File struct {
	d       *Disk
	e       *entry
	name    string
	appends bool
	at      int
}

// Write writes to the end of a file that was opened with os.O_APPEND, else where the last Write ended.
func (f *File) Write(b []byte) (int, error) {
	if f.appends {
		f.at = len(f.e.data)
	}
	n, err := f.put("write", b, f.at)
	f.at += n
	return n, err
}

// WriteAt writes at an offset.
func (f *File) WriteAt(b []byte, off int64) (int, error) { return f.put("writeat", b, int(off)) }

func (f *File) put(op string, b []byte, at int) (int, error) {
	half, err := f.d.step(op, f.name)
	if err != nil && !half {
		return 0, err
	}
	if err != nil {
		b = b[:len(b)/2]
	}
	if at == len(f.e.data) { // appending is the common case, and needs no copy: no other entry uses the bytes after the end
		f.e.data = append(f.e.data, b...)
		return len(b), err
	}
	data := make([]byte, max(len(f.e.data), at+len(b)))
	copy(data, f.e.data)
	copy(data[at:], b)
	f.e.data = data
	return len(b), err
}

// Truncate changes the length of the file.
func (f *File) Truncate(size int64) error {
	if _, err := f.d.step("truncate", f.name); err != nil {
		return err
	}
	data := make([]byte, size)
	copy(data, f.e.data)
	f.e.data = data
	return nil
}

// Sync makes the bytes durable.
func (f *File) Sync() error {
	if _, err := f.d.step("fsync", f.name); err != nil {
		return err
	}
	f.e.synced = f.e.data[:len(f.e.data):len(f.e.data)]
	return nil
}

// Close does nothing, because closing a file does not make it more durable.
func (f *File) Close() error { return nil }

// Flip changes a bit of a file, as a failing disk does.
func (d *Disk) Flip(name string, bit int64) error {
	_, e := d.find(name)
	if e == nil || e.dir || bit/8 >= int64(len(e.data)) {
		return missing("flip", name)
	}
	e.data = bytes.Clone(e.data)
	e.data[bit/8] ^= 1 << (bit % 8)
	e.synced = e.data
	return nil
}

// Clone returns a copy of the disk as it is now, all of it durable.
func (d *Disk) Clone() *Disk { return d.Crash(Kept, nil) }

// Outcome says what a crash does to bytes and entries that were not synced.
type Outcome int

// The outcomes.
const (
	Lost Outcome = iota
	Kept         // only the process has ended
	Torn
	Outcomes // the number of outcomes
)

func (o Outcome) String() string { return [...]string{"lost", "kept", "torn"}[o] }

// Crash returns the disk as it would be found after a crash. It draws from source what is torn.
func (d *Disk) Crash(o Outcome, source *rand.Rand) *Disk {
	after := New()
	after.root = surviving(d.root, o, source)
	return after
}

func surviving(e *entry, o Outcome, source *rand.Rand) *entry {
	if !e.dir {
		b := survivingBytes(e, o, source)
		return &entry{data: b[:len(b):len(b)], synced: b[:len(b):len(b)]}
	}
	names := sortedKeys(e.now)
	for n := range e.durable {
		if _, both := e.now[n]; !both {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	out := newDir()
	for _, n := range names {
		child := e.durable[n]
		if o == Kept || o == Torn && source.IntN(2) == 0 {
			child = e.now[n]
		}
		if child != nil {
			out.now[n] = surviving(child, o, source)
			out.durable[n] = out.now[n]
		}
	}
	return out
}

// Sector is the size of the smallest piece that a disk writes, in bytes.
const Sector = 512

func survivingBytes(e *entry, o Outcome, source *rand.Rand) []byte {
	switch {
	case o == Lost:
		return e.synced
	case o == Kept:
		return e.data
	case len(e.data) < len(e.synced): // the truncation happened or not
		return [][]byte{e.synced, e.data}[source.IntN(2)]
	}
	out := make([]byte, len(e.data))
	copy(out, e.synced)
	switch source.IntN(3) {
	case 0: // a prefix of the changes was written; if the file grew, it ends where this prefix ends
		from := 0
		for from < len(e.synced) && e.synced[from] == e.data[from] {
			from++
		}
		k := from + source.IntN(len(e.data)-from+1)
		copy(out, e.data[:k])
		out = out[:max(k, len(e.synced))]
	case 1: // any of the sectors were written, in any order
		for at := 0; at < len(out); at += Sector {
			if source.IntN(2) == 0 {
				copy(out[at:min(at+Sector, len(out))], e.data[at:])
			}
		}
	case 2: // the length was written, but none of the bytes
	}
	return out
}

func sortedKeys(m map[string]*entry) []string {
	all := make([]string, 0, len(m))
	for n := range m {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// info is what ReadDir reports about an entry.
type info struct {
	name string
	e    *entry
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.e.data)) }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.e.dir }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.e.dir {
		return fs.ModeDir | owned.DirMode
	}
	return owned.FileMode
}
