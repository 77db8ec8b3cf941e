package inplace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/filestamp"
)

// opened is a file below a root. It implements Source.
type opened struct {
	*os.File
	root *os.Root
	name string // below root
}

var _ Source = (*opened)(nil)

// open opens a file below one of the roots.
func open(roots []string, path string) (f *opened, err error) {
	var errs []error
	for _, root := range roots {
		name, err := filepath.Rel(root, path)
		if err != nil || name == ".." || strings.HasPrefix(name, ".."+string(filepath.Separator)) {
			continue
		}
		f, err := openBelow(root, name)
		if err == nil {
			return f, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", path, err))
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("%s is below no root", path)
	}
	return nil, errors.Join(errs...)
}

func openBelow(root, name string) (f *opened, err error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open root: %w", err)
	}
	f = &opened{root: dir, name: name}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if _, err := f.There(); err != nil { // checked first: opening a device may have side effects
		return f, err
	}
	if f.File, err = dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return f, err
	}
	_, err = f.Is()
	return f, err
}

// Close closes the file and its root.
func (f *opened) Close() error {
	var errs []error
	if f.File != nil {
		errs = append(errs, f.File.Close())
	}
	return errors.Join(append(errs, f.root.Close())...)
}

// Is implements Source.
func (f *opened) Is() (protocol.Stamp, error) { return regular(f.File.Stat()) }

// There implements Source.
func (f *opened) There() (protocol.Stamp, error) { return regular(f.root.Stat(f.name)) }

func regular(info os.FileInfo, err error) (protocol.Stamp, error) {
	if err != nil {
		return protocol.Stamp{}, err
	}
	if !info.Mode().IsRegular() {
		return protocol.Stamp{}, fmt.Errorf("it is %s, not a regular file", info.Mode())
	}
	return filestamp.Of(info), nil
}
