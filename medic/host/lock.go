package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrBusy is wrapped when the host's lock could not be had in time: somebody acts for very long, or hangs.
var ErrBusy = errors.New("somebody else is acting on the host")

const askAgain = 3 * time.Millisecond

// lock waits for the host's lock. The kernel takes it back when its holder ends.
func (h *Host) lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(h.file("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock host %s: %w", h.name, err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			if f.Truncate(0) == nil {
				_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0) // for whoever waits in vain
			}
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("lock host %s: %w", h.name, err)
		}
		select {
		case <-time.After(askAgain):
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("lock host %s, which process %d has: %w", h.name, h.holder(), ErrBusy)
		}
	}
}

// holder is the process that had the lock last; 0 if nobody knows.
func (h *Host) holder() int {
	b, err := os.ReadFile(h.file("lock"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}
