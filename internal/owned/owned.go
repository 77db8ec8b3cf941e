package owned

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
)

// ErrOpen is wrapped by the errors of all functions for what somebody else owns, or may enter, read or change.
var ErrOpen = errors.New("it is not this user's alone")

// Permissions of files and directories that only their user may use.
const (
	DirMode  fs.FileMode = 0o700
	FileMode fs.FileMode = 0o600
)

const others fs.FileMode = 0o077

// Check checks that a directory belongs to this user alone, and is not a symbolic link. It changes nothing, because a directory that was
// open may contain anything.
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
		return fmt.Errorf("%s is not a directory; remove it", dir)
	case info.Mode().Perm()&others != 0:
		return fmt.Errorf("others may enter %s (mode %#o): %w; look at what is in it, and run chmod 700 %s", dir, info.Mode().Perm(), ErrOpen,
			dir)
	}
	return nil
}

// ours refuses what belongs to another user.
func ours(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() {
		return nil
	}
	return fmt.Errorf("%s belongs to user %d and this is user %d: %w; run posta as that user, name another directory, or give it away with "+
		"chown -R %d %s",
		path, stat.Uid, os.Geteuid(), ErrOpen, os.Geteuid(), path)
}

// Dir makes a directory and its missing parents, or closes an existing one to others and logs this.
func Dir(dir string) error {
	root, err := openDir(dir)
	if err != nil {
		return err
	}
	return root.Close()
}

// openDir is Dir. It examines the directory that it has opened and not its name, which may soon lead elsewhere.
func openDir(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, DirMode); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir) // a data directory may be a symbolic link to a disk
	if errors.Is(err, fs.ErrPermission) {
		if info, lookErr := os.Stat(dir); lookErr == nil {
			err = cmp.Or(ours(dir, info), err)
		}
	}
	if err != nil {
		return nil, err
	}
	closed, err := restrict(root, dir, ".", DirMode)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if closed {
		slog.Warn("others could read or enter a directory of this user; it is closed to them now", "directory", dir)
	}
	return root, nil
}

// Tree is Dir for a directory and everything below it. Earlier versions of the program left files that others could read.
func Tree(dir string) error {
	root, err := openDir(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	number, example := 0, ""
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed meanwhile
		case err != nil:
			return err
		case name == "." || d.Type()&^fs.ModeDir != 0: // links are not followed, and a socket has no content
			return nil
		}
		mode := FileMode
		if d.IsDir() {
			mode = DirMode
		}
		closed, err := restrict(root, filepath.Join(dir, name), name, mode)
		if closed {
			number, example = number+1, name
		}
		return err
	})
	if number > 0 {
		slog.Warn("others could read or enter what is in a directory of this user; it is closed to them now", "directory", dir, "number", number,
			"one", example)
	}
	return err
}

// restrict removes other users' rights to a file or directory, and does not change the owner's. It reports whether there were any. Most
// files need no change, so only the others are opened.
func restrict(root *os.Root, path, name string, most fs.FileMode) (closed bool, err error) {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it was removed meanwhile
	}
	if err == nil {
		err = ours(path, info)
	}
	if err == nil && name == "." && info.Mode()&fs.ModeSticky != 0 {
		err = fmt.Errorf("%s is for all users (mode %v): %w; name a directory of its own below it", path, info.Mode(), ErrOpen)
	}
	if err != nil || info.Mode().Perm()&^most == 0 {
		return false, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("close it to others: %w", err)
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err == nil {
		err = ours(path, info)
	}
	if err != nil {
		return false, err
	}
	if err := f.Chmod(info.Mode().Perm() & most); err != nil {
		return false, fmt.Errorf("close it to others: %w", err)
	}
	return true, nil
}

// maxRead bounds the bytes that Read reads. The program's own notes have a few lines.
const maxRead = 1 << 20

// Read reads a small file that nobody else wrote.
func Read(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) // opening a pipe must not wait
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil {
		err = regular(name, info)
	}
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		err = fmt.Errorf("others may write %s (mode %#o): %w; look at what is in it, and run chmod 600 %s", name, info.Mode().Perm(), ErrOpen,
			name)
	}
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if err == nil && len(b) > maxRead {
		err = fmt.Errorf("%s has more than %d bytes, and posta wrote fewer; look at what is in it, and remove it", name, maxRead)
	}
	return b, err
}

// Open opens a file for reading and writing, or makes an empty one. An existing file must be this user's own and have no second name.
// Otherwise this process would write to a file that somebody else has chosen by a link. The content does not change.
func Open(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, FileMode)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a symbolic link: %w; look at who made it, and remove it", name, ErrOpen)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(name, info)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); err == nil && ok && stat.Nlink != 1 {
		err = fmt.Errorf("%s has %d names: %w; look at who linked it, and remove this one", name, stat.Nlink, ErrOpen)
	}
	if err == nil && info.Mode().Perm()&others != 0 { // a user that can open it can lock it
		err = f.Chmod(info.Mode().Perm() & FileMode)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// regular refuses what is not a file of this user.
func regular(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; look at what it is, and remove it", name)
	}
	return ours(name, info)
}
