package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Scratch is a file beside the log that nothing durable refers to. It is never synced, and grows at its end. It is removed by Remove, or,
// after a crash, by SweepFiles: its name is not among those that are kept. No file descriptor is open between two calls, so a node may have
// any number of scratch files.
type Scratch struct {
	log  *Log
	name string
	path string
}

// NewScratch makes an empty scratch file. An error of a scratch file is its user's: the log goes on.
func (l *Log) NewScratch() (*Scratch, error) {
	l.mu.Lock()
	err := l.usableLocked()
	l.scratches++
	name := fmt.Sprintf("scratch-%d%s", l.scratches, tmpSuffix)
	if err == nil {
		if l.scratch == nil {
			l.scratch = map[string]bool{}
		}
		l.scratch[name] = true
	}
	l.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("wal: make a scratch file in %s: %w", l.dir, err)
	}
	s := &Scratch{l, name, l.filePath(name)}
	if err = s.write(nil, os.O_CREATE|os.O_TRUNC); errors.Is(err, fs.ErrNotExist) { // the first one
		if err = makeDir(l.fs, filepath.Dir(s.path)); err == nil {
			err = s.write(nil, os.O_CREATE|os.O_TRUNC)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// Append writes p behind what is there. After an error only Remove may be called.
func (s *Scratch) Append(p []byte) error { return s.write(p, os.O_APPEND) }

func (s *Scratch) write(p []byte, flag int) (err error) {
	f, err := s.log.fs.OpenFile(s.path, flag|os.O_WRONLY, filePerm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if len(p) > 0 {
		_, err = f.Write(p)
	}
	return err
}

// ReadAt fills all of p with the bytes from off on, or returns an error.
func (s *Scratch) ReadAt(p []byte, off int64) error { return ReadFileAt(s.log.fs, s.path, p, off) }

// Remove removes the file.
func (s *Scratch) Remove() error {
	s.log.mu.Lock()
	delete(s.log.scratch, s.name)
	s.log.mu.Unlock()
	return removeFile(s.log.fs, s.path)
}
