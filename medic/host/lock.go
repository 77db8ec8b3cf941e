package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/medic"
)

// ErrBusy is wrapped when the host's lock could not be taken in time: its holder takes very long, or hangs.
var ErrBusy = errors.New("another process is acting on the host")

// holderSize is the length of the line that names the holder. No name of a node is as long.
const holderSize = 256

// lockAgain is the pause before the lock is tried again.
const lockAgain = 3 * time.Millisecond

// lock waits for the host's lock. The kernel releases it when its holder ends.
func (h *Host) lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(h.file("lock"), os.O_CREATE|os.O_RDWR, owned.FileMode)
	if err != nil {
		return nil, fmt.Errorf("lock host %s: %w", h.name, err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			// For processes that fail to get the lock. The line overwrites the previous one: a full disk has no room for more.
			_, _ = f.WriteAt([]byte(fmt.Sprintf("%-*s\n", holderSize-1, fmt.Sprintf("%d %s", os.Getpid(), h.self))), 0)
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("lock host %s: %w", h.name, err)
		}
		if medic.Sleep(ctx, lockAgain) != nil {
			_ = f.Close()
			return nil, fmt.Errorf("lock host %s, which %s has: %w", h.name, h.holder(), ErrBusy)
		}
	}
}

// holder describes the holder of the lock for people.
func (h *Host) holder() string {
	pid, who := h.readHolder()
	switch {
	case who != "":
		return who
	case pid != "":
		return "process " + pid
	}
	return "somebody"
}

// readHolder returns the pid of the lock's last holder, and its medic: "" if it was not a medic, or is unknown. Medics are compared by
// name, because processes in containers all have the same pid.
func (h *Host) readHolder() (pid, who string) {
	b, err := os.ReadFile(h.file("lock"))
	if err != nil {
		return "", ""
	}
	pid, who, _ = strings.Cut(strings.TrimSpace(string(b)), " ")
	return pid, who
}
