package owned

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Unchanged checks that only this user and root may change a file that this user is about to believe, or replace it in its directory. root
// may believe files of other users: in a container root reads what a user of the machine has mounted there. So may everybody where the file
// is mounted read-only, because only root mounts files. A group that has its owner's number is the owner's alone, as systems with the umask
// 002 make it.
func Unchanged(path string, info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() && stat.Uid != 0 && os.Geteuid() != 0 &&
		!mountedReadOnly(path) {
		return fmt.Errorf("%s belongs to user %d, who can change it: %w; copy it", path, stat.Uid, ErrOpen)
	}
	if writable(info) {
		return fmt.Errorf("others may write %s (mode %#o): %w; look at what is in it, and run chmod go-w %s", path, info.Mode().Perm(), ErrOpen,
			path)
	}
	dir := filepath.Dir(path)
	above, err := os.Stat(dir)
	if err == nil && above.Mode()&fs.ModeSticky == 0 && writable(above) {
		return fmt.Errorf("others may write in %s (mode %#o) and can replace %s: %w; run chmod go-w %[1]s, or move it", dir, above.Mode().Perm(),
			filepath.Base(path), ErrOpen)
	}
	return nil
}

func writable(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	alone := ok && stat.Gid == stat.Uid
	return info.Mode().Perm()&0o002 != 0 || info.Mode().Perm()&0o020 != 0 && !alone
}
