package bench

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// cores returns the processor cores that this process may use.
func cores() (all []int) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	for i := range 64 * len(set) {
		if set.IsSet(i) {
			all = append(all, i)
		}
	}
	return all
}

// startOn starts a child that runs on one core from its first instruction on, with all its threads. The child inherits the
// core from the thread that starts it.
func startOn(core int, cmd *exec.Cmd) (err error) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("ask for the cores of a thread: %w", err)
	}
	one.Set(core)
	if err = unix.SchedSetaffinity(0, &one); err == nil {
		err = startChild(cmd)
	}
	if back := unix.SchedSetaffinity(0, &before); back != nil {
		return errors.Join(err, back) // the thread stays locked, so it ends with this goroutine
	}
	runtime.UnlockOSThread()
	return err
}
