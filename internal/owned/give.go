package owned

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Give gives a directory and everything below it to a user. It follows no links. The directory itself comes last, so the user is refused by
// Dir until all is given, and the same call can be made again.
func Give(dir string, uid, gid int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	err = fs.WalkDir(root.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && name != "." {
			err = give(root, name, uid, gid)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was removed meanwhile
		}
		return err
	})
	if err != nil {
		return err
	}
	return give(root, ".", uid, gid)
}

func give(root *os.Root, name string, uid, gid int) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) == uid && int(stat.Gid) == gid {
		return nil
	}
	return root.Lchown(name, uid, gid)
}

// ActFor makes root go on as the user that has a directory, for good. Other users stay who they are.
func ActFor(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || stat.Uid == 0 {
		return nil
	}
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(int(stat.Gid)), syscall.Setuid(int(stat.Uid))); err != nil {
		return fmt.Errorf("go on as user %d, who has %s: %w", stat.Uid, dir, err)
	}
	return nil
}
