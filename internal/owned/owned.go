package owned

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrOpen is wrapped by the errors of all functions for what somebody else owns, or may enter, read or change.
var ErrOpen = errors.New("it is not this user's alone")

// Permissions of what only its user may use.
const (
	DirMode  fs.FileMode = 0o700
	FileMode fs.FileMode = 0o600
)

const others fs.FileMode = 0o077

// Check finds a directory that is this user's alone, and is no symbolic link. It changes nothing: one that was open may hold anything.
func Check(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if err := ours(dir, info); err != nil {
		return err
	}
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is no directory; remove it", dir)
	case info.Mode().Perm()&others != 0:
		return fmt.Errorf("others may enter %s (mode %#o): %w; look at what is in it, and run chmod 700 %s", dir, info.Mode().Perm(), ErrOpen, dir)
	}
	return nil
}

// ours refuses what belongs to another user.
func ours(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() {
		return nil
	}
	return fmt.Errorf("%s belongs to user %d and this is user %d: %w; run posta as that user, name another directory, or give it away with chown -R %d %s",
		path, stat.Uid, os.Geteuid(), ErrOpen, os.Geteuid(), path)
}

// Dir makes a directory, with those above it that are missing, or closes the one that is there to others.
func Dir(dir string) error {
	if err := os.MkdirAll(dir, DirMode); err != nil {
		return err
	}
	info, err := os.Stat(dir) // a data directory may be a symbolic link to a disk
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSticky != 0 {
		return fmt.Errorf("%s is for all users (mode %v): %w; name a directory of its own below it", dir, info.Mode(), ErrOpen)
	}
	return restrict(dir, info, DirMode)
}

// Tree is Dir for a directory and all that is below it. Earlier versions of the program left files that others could read.
func Tree(dir string) error {
	if err := Dir(dir); err != nil {
		return err
	}
	top, err := filepath.EvalSymlinks(dir) // WalkDir does not follow one
	if err != nil {
		return err
	}
	return filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile
		case err != nil:
			return err
		case path == top || d.Type()&^fs.ModeDir != 0: // no link is followed, and a socket has no content
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		mode := FileMode
		if d.IsDir() {
			mode = DirMode
		}
		return restrict(path, info, mode)
	})
}

// restrict takes from others what they may do with a file or directory, and leaves the owner's own rights alone.
func restrict(path string, info fs.FileInfo, most fs.FileMode) error {
	if err := ours(path, info); err != nil {
		return err
	}
	if info.Mode().Perm()&^most == 0 {
		return nil
	}
	if err := os.Chmod(path, info.Mode().Perm()&most); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("close it to others: %w", err)
	}
	return nil
}

// Read reads a file that nobody else wrote.
func Read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil {
		err = ours(name, info)
	}
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		err = fmt.Errorf("others may write %s (mode %#o): %w; look at what is in it, and run chmod 600 %s", name, info.Mode().Perm(), ErrOpen, name)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
