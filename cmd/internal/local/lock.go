package local

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"posta.dev/posta/internal/owned"
)

// ErrLocked is wrapped by the error of TakeLock when another process has the lock.
var ErrLocked = errors.New("in use by another process")

// Lock is a file that one process at a time holds. The kernel takes it back when the process ends, however it ends.
type Lock struct{ f *os.File }

// TakeLock makes the file and takes it, or fails at once.
func TakeLock(name string) (*Lock, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, owned.FileMode)
	if err != nil {
		return nil, fmt.Errorf("take the lock: %w", err)
	}
	if err := f.Chmod(owned.FileMode); err != nil { // who may open it can keep others from taking it
		return nil, errors.Join(fmt.Errorf("keep the lock from others: %w", err), f.Close())
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		defer func() { _ = f.Close() }()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is %w%s", name, ErrLocked, holder(name))
		}
		return nil, fmt.Errorf("take the lock %s: %w", name, err)
	}
	if f.Truncate(0) == nil { // the pid is for people only
		_, _ = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &Lock{f}, nil
}

func holder(name string) string {
	b, err := os.ReadFile(name)
	if pid := strings.TrimSpace(string(b)); err == nil && pid != "" {
		return ", " + pid
	}
	return ""
}

// Release gives it back. The file stays: removing it would let two hold a lock of the same name.
func (l *Lock) Release() error { return l.f.Close() }
