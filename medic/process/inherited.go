package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// keepInherited makes sure that no descriptor beyond the standard ones that this process has inherited reaches its children. A node
// outlives the command that starts it by days: it would hold the lock under which a script says posta up (flock 9; posta up), the pipe on
// whose end a program waits, or a file with a secret. What Go opens is closed in children anyway, so once is enough.
func keepInherited() error {
	dir := "/proc/self/fd"
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) { // not Linux
		dir = "/dev/fd"
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list the open descriptors, which children must not inherit: %w", err)
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > syscall.Stderr {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}
