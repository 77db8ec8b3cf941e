package gen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Dir is where files are made. Names have slashes.
type Dir interface {
	Create(name string) (io.WriteCloser, error)
}

// OnDisk makes files below a directory, which is made too.
func OnDisk(path string) Dir { return onDisk(path) }

type onDisk string

func (d onDisk) Create(name string) (io.WriteCloser, error) {
	path := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.Create(path)
}

// writeFile makes a file; fill gets a function that writes b when it is long enough, and always returns the buffer to go on
// with.
func writeFile(dir Dir, name string, fill func(flush func(b []byte) []byte) []byte) error {
	f, err := dir.Create(name)
	if err != nil {
		return fmt.Errorf("generate %s: %w", name, err)
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
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("generate %s: %w", name, err)
	}
	return nil
}

// keep drops what cannot be written any more, so that a full disk does not fill the memory.
func keep(n int, err error) int {
	if err != nil {
		return 0
	}
	return n
}
