package owned

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds the symbolic links on a path, as the kernel does.
const maxLinks = 40

// Path checks that nobody else can replace a directory: each directory above it, and each symbolic link on the way, belongs to this user or
// to root, and others may not write there. Directories like /tmp are writable by all, but there nobody can rename or remove what belongs to
// others. A directory that does not exist yet is not an error.
//
// A check of the directory itself cannot find this: a moment later its name may refer to another directory, which is this user's as
// well.
func Path(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	top, err := os.Lstat("/")
	if err != nil {
		return err
	}
	at, rest, links := "/", strings.Split(abs, "/"), 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..": // in a link's target
			at = filepath.Dir(at)
			continue
		}
		if err := checkAbove(at, dir, top); err != nil {
			return err
		}
		path := filepath.Join(at, name)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = path
			continue
		}
		if links++; links > maxLinks {
			return fmt.Errorf("%s: %w", dir, syscall.ELOOP)
		}
		if !trusted(info, top) {
			return fmt.Errorf("%s is a link of user %d on the way to %s: %w; name another directory", path, owner(info), dir, ErrOpen)
		}
		to, err := os.Readlink(path)
		if err != nil {
			return err
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return nil
}

// checkAbove checks one directory on the way.
func checkAbove(path, dir string, top fs.FileInfo) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !trusted(info, top) {
		return fmt.Errorf("%s belongs to user %d, who can replace %s: %w; name a directory that is not below it", path, owner(info), dir, ErrOpen)
	}
	if info.Mode()&fs.ModeSticky == 0 && othersWrite(info) {
		return fmt.Errorf(
			"others may write in %s (mode %#o) and can replace %s: %w; run chmod go-w %[1]s, or name a directory that is not below it", path,
			info.Mode().Perm(), dir, ErrOpen)
	}
	return nil
}

// Writers checks that a directory is this user's and that nobody else can write in it. Others may read it.
func Writers(dir string) error {
	info, err := os.Stat(dir)
	if err == nil {
		err = ours(dir, info)
	}
	if err != nil {
		return err
	}
	if othersWrite(info) {
		return fmt.Errorf("others may write in %s (mode %#o): %w; look at what is in it, and run chmod go-w %[1]s, or name another directory",
			dir, info.Mode().Perm(), ErrOpen)
	}
	return nil
}

// othersWrite reports whether another user may write. Where the umask is 002, each user commonly has a group of its own. By convention
// this group has the same number as the user.
func othersWrite(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	alone := ok && int(stat.Gid) == os.Getegid() && os.Getegid() == os.Geteuid()
	return info.Mode().Perm()&0o002 != 0 || info.Mode().Perm()&0o020 != 0 && !alone
}

// trusted reports whether the owner is this user or root. In a namespace without its own root, the owner of the top directory counts as
// root.
func trusted(info, top fs.FileInfo) bool {
	uid := owner(info)
	return uid == os.Geteuid() || uid == 0 || uid == owner(top)
}

func owner(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return os.Geteuid()
}
