package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Files hold state that is too large for snapshots and never changes. Each is written once, under a name that identifies its
// content, and records and snapshots refer to it by that name. The crash story:
//
//  1. what a file will hold is durable in records of the log, or in a snapshot, until the file is. So a crash before SaveFile has returned
//     loses nothing: recovery has the content again, and saves it again, under the same name.
//  2. SaveFile writes it under a temporary name, syncs it, renames it, and syncs the directory. From then on snapshots may refer to it.
//  3. DropFiles is called once the record is durable that makes files useless. A crash before that leaves them; after recovery, SweepFiles
//     removes files that nothing refers to, temporary files included.
//
// A retired log leaves its files in place. The next log takes over those to which the heritage refers, and the sweep removes
// the others.

// SaveFile makes a file durable. Its content is the concatenation of parts. It replaces an existing one. On ErrDiskFull nothing changed; on
// errFailed the next Open decides. May run beside Append.
func (l *Log) SaveFile(name string, parts ...[]byte) error {
	l.mu.Lock()
	err := l.usableLocked()
	l.mu.Unlock()
	if err != nil {
		return fmt.Errorf("wal: save file %s in %s: %w", name, l.dir, err)
	}
	path := l.filePath(name)
	err = replaceFile(l.fs, path, parts...)
	if errors.Is(err, fs.ErrNotExist) { // the first one
		if err = makeDir(l.fs, filepath.Dir(path)); err == nil {
			err = replaceFile(l.fs, path, parts...)
		}
	}
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.failLocked("save file "+name, err)
	}
	return nil
}

func (l *Log) filePath(name string) string {
	return filepath.Join(l.dir, filesDir, filepath.Base(name))
}

// ReadFileAt fills all of p with the bytes of a file from off on, or returns an error. It does not check the content; the
// caller must.
func (l *Log) ReadFileAt(name string, p []byte, off int64) error {
	if err := ReadFileAt(l.fs, l.filePath(name), p, off); err != nil {
		return fmt.Errorf("wal: read file %s in %s: %w", name, l.dir, err)
	}
	return nil
}

// rangeReader is an FS that reads a part of a file without reading all of it.
type rangeReader interface {
	ReadFileAt(name string, p []byte, off int64) error
}

// ReadFileAt fills all of p with the bytes of a file from off on. It is for file systems that are made of others: only some can read parts.
func ReadFileAt(fsys FS, name string, p []byte, off int64) error {
	if r, is := fsys.(rangeReader); is {
		return r.ReadFileAt(name, p, off)
	}
	all, err := fsys.ReadFile(name)
	if err == nil && off+int64(len(p)) > int64(len(all)) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		copy(p, all[off:])
	}
	return err
}

func (osFS) ReadFileAt(name string, p []byte, off int64) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.ReadAt(p, off)
	return err
}

// DropFiles removes files that nothing durable refers to any more. The removal need not be durable, because SweepFiles checks
// again.
func (l *Log) DropFiles(names ...string) error {
	for _, name := range names {
		if err := removeFile(l.fs, l.filePath(name)); err != nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.failLocked("remove file "+name, err)
		}
	}
	return nil
}

// SweepFiles removes all files except those in keep, and scratch files of this log.
func (l *Log) SweepFiles(keep []string) error {
	entries, err := readDir(l.fs, filepath.Join(l.dir, filesDir))
	var names []string
	l.mu.Lock()
	for _, e := range entries {
		if !slices.Contains(keep, e.Name()) && !l.scratch[e.Name()] {
			names = append(names, e.Name())
		}
	}
	l.mu.Unlock()
	if err != nil {
		return fmt.Errorf("wal: look for files in %s: %w", l.dir, err)
	}
	return l.DropFiles(names...)
}
