package gen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Dir is a place where files are made. Names have slashes.
type Dir interface {
	Create(name string) (io.WriteCloser, error)
}

// OnDisk makes files below a directory, and makes the directory itself.
func OnDisk(path string) Dir { return onDisk(path) }

type onDisk string

func (d onDisk) Create(name string) (io.WriteCloser, error) {
	path := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.Create(path)
}

// flusher writes b if it is long enough, and always returns the buffer to continue with.
type flusher func(b []byte) []byte

// file is a file to make. fill returns the bytes that it has not flushed.
type file struct {
	name string
	fill func(flush flusher) []byte
}

// writeFiles makes files one after the other, because they draw from the same random numbers.
func writeFiles(dir Dir, files ...file) error {
	for _, f := range files {
		if err := writeFile(dir, f.name, f.fill); err != nil {
			return fmt.Errorf("generate %s: %w", f.name, err)
		}
	}
	return nil
}

// errRows is returned by every generator for a negative number of rows.
var errRows = errors.New("the number of rows is negative")

func writeFile(dir Dir, name string, fill func(flush flusher) []byte) error {
	f, err := dir.Create(name)
	if err != nil {
		return err
	}
	const enough = 256 << 10
	flush := func(b []byte) []byte {
		if len(b) < enough || err != nil {
			return b[:keep(len(b), err)]
		}
		_, err = f.Write(b)
		return b[:0]
	}
	rest := fill(flush)
	if err == nil {
		_, err = f.Write(rest)
	}
	return errors.Join(err, f.Close())
}

// keep discards what cannot be written any more, so that a full disk does not fill the memory.
func keep(n int, err error) int {
	if err != nil {
		return 0
	}
	return n
}
