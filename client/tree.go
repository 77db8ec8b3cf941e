package client

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// tree is a directory below which files are looked for. Paths in it are relative and have slashes; "" is the directory itself.
type tree struct {
	dir string
	// confined refuses links that lead out of the directory, and everything but regular files and directories (Input.Roots). os.Root checks
	// that when a file is opened, so a link that is made meanwhile leads nowhere else.
	confined bool
}

func (t tree) path(at string) string { return filepath.Join(t.dir, filepath.FromSlash(at)) }

func (t tree) readDir(at string) (entries []fs.DirEntry, err error) {
	if !t.confined {
		return os.ReadDir(t.path(at))
	}
	f, err := t.openRoot(at)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.ReadDir(-1) // in any order: what is found is sorted by its name later
}

// stat follows links.
func (t tree) stat(at string) (info fs.FileInfo, err error) {
	if !t.confined {
		return os.Stat(t.path(at))
	}
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	info, err = root.Stat(filepath.FromSlash(at))
	return info, t.explain(at, err)
}

// open opens a file for a stream.
func (t tree) open(at string, warn *warnings) (io.ReadCloser, error) {
	if !t.confined {
		return openFile(t.path(at), warn)
	}
	f, err := t.openRoot(at)
	if err != nil {
		return nil, err
	}
	return opened(f, warn)
}

func (t tree) openRoot(at string) (f *os.File, err error) {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if at == "" {
		at = "."
	}
	if f, err = root.OpenFile(filepath.FromSlash(at), os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return nil, t.explain(at, err)
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		err = onlyRegular(f.Name(), info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// explain names the link that os.Root refuses: its error does not say what is wrong.
func (t tree) explain(at string, err error) error {
	if err == nil {
		return nil
	}
	if _, there := os.Stat(t.path(at)); there == nil {
		return fmt.Errorf("%s is not read: a link leads out of %s, or names an absolute path; put the file itself there: %w", t.path(at), t.dir,
			err)
	}
	return err
}

func onlyRegular(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s is not read: it is %s, and only regular files are read here", name, info.Mode())
}
