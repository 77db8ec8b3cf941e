// Package bootclock reads the machine's monotonic clock: nobody sets it, and all processes of the machine, containers included, see the same
// one (M10). It counts within one boot.
package bootclock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Read returns the name of the machine's present boot and the clock; the name is empty where either cannot be read.
func Read() (boot string, since time.Duration) {
	var t unix.Timespec
	if boot = bootID(); boot == "" || unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return "", 0
	}
	return boot, time.Duration(t.Nano())
}
