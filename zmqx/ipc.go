package zmqx

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// openIPC listens on a unix socket. A socket file that nobody listens on was left by a killed process and is replaced;
// one that answers, and anything that is not a socket, is left alone. (Between the question and the removal another
// process could take the path; a node's data directory lock, N4, keeps two of them from starting at all.)
func (l *listener) openIPC(path string) error {
	if err := clearStale(path); err != nil {
		return err
	}
	u, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	u.SetUnlinkOnClose(false) // by name only: it would remove a successor's file
	// A peer that connects before the mode is set is refused by CheckOwner as usual.
	err = os.Chmod(path, 0o600)
	var info os.FileInfo
	if err == nil {
		info, err = os.Lstat(path)
	}
	if err != nil {
		u.Close()
		return err
	}
	l.net, l.path, l.file = u, path, info
	return nil
}

func clearStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%w: %s exists and is not a socket; remove it or choose another path", errInUse, path)
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		conn.Close()
		return fmt.Errorf("%w: another process listens on %s; stop it or choose another path", errInUse, path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		// For instance EAGAIN: its backlog is full, so the process lives.
		return fmt.Errorf("%w: %s: %w", errInUse, path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeSocketFile removes the file that open made, and no other that has taken its place.
func (l *listener) removeSocketFile() error {
	info, err := os.Lstat(l.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, l.file) {
		return nil
	}
	if err == nil {
		err = os.Remove(l.path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
