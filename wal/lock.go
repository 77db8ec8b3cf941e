package wal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// locker is an FS that locks directories itself. An FS that shows a real directory needs no lock of its own. It is exported for the
// simulator (test/sim), whose disk is in memory.
type locker interface {
	// Lock takes a directory until the lock is closed; ErrLocked if another has it.
	Lock(dir string) (io.Closer, error)
}

// Lock takes the directory for this process (N4). The kernel drops the lock with the process, however it dies, so
// there is nothing to clean up after a kill -9. It does not go through FS, unless that has locks: a lock is not part of the content of a
// disk. A file system that is made of another one has the other one's locks by calling Lock.
func Lock(fsys FS, dir string) (io.Closer, error) {
	if l, ok := fsys.(locker); ok {
		return l.Lock(dir)
	}
	name := filepath.Join(dir, lockName)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, filePerm)
	if err != nil {
		return nil, fmt.Errorf("wal: lock %s: %w", dir, err)
	}
	if err := flock(f); err != nil {
		holder := readPid(name)
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("wal: %s is in use by process %s; stop it first, or give this node another data directory: %w", dir, holder,
				ErrLocked)
		}
		return nil, fmt.Errorf("wal: lock %s: %w", dir, err)
	}
	writePid(f)
	return f, nil
}

func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// writePid writes the pid for people only. On a full disk it fails, and the lock holds nevertheless.
func writePid(f *os.File) {
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
}

func readPid(name string) string {
	b, err := os.ReadFile(name)
	pid := strings.TrimSpace(string(b))
	if _, bad := strconv.Atoi(pid); err != nil || bad != nil {
		return "unknown"
	}
	return pid
}

// Holder returns the process that has the log of dir open, "" if none has. It takes the lock for a moment: an Open at this moment gets
// ErrLocked.
func Holder(dir string) string {
	name := filepath.Join(dir, lockName)
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if err := flock(f); errors.Is(err, syscall.EWOULDBLOCK) {
		return readPid(name)
	}
	return ""
}
