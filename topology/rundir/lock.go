package rundir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"posta.dev/posta/internal/owned"
)

// errLocked is wrapped by the error of TakeLock when another process has the lock.
var errLocked = errors.New("in use by another process")

// Lock is a file that one process at a time holds. The kernel releases it when the process ends, however it ends.
type Lock struct{ f *os.File }

// TakeLock makes the file and takes the lock. It fails at once if another process has it.
func TakeLock(name string) (*Lock, error) {
	f, err := owned.Open(name)
	if err != nil {
		return nil, fmt.Errorf("take the lock: %w", err)
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
			return nil, fmt.Errorf("%s is %w%s", name, errLocked, holder(f))
		}
		return nil, fmt.Errorf("take the lock %s: %w", name, err)
	}
	if f.Truncate(0) == nil { // the pid is for people only
		_, _ = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &Lock{f}, nil
}

func holder(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, 20))
	if pid := strings.TrimSpace(string(b)); err == nil && pid != "" {
		return ", " + pid
	}
	return ""
}

// Release gives the lock back. The file stays: if it were removed, two processes could each hold a lock of the same name.
func (l *Lock) Release() error { return l.f.Close() }
