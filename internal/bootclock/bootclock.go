// Package bootclock reads the machine's monotonic clock, which nobody can set. All processes of the machine, containers included, read the
// same clock (M10). Its readings compare only within one boot.
package bootclock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Read returns the name of the machine's present boot, and the clock. The name is empty if either cannot be read.
func Read() (boot string, since time.Duration) {
	var t unix.Timespec
	if boot = bootID(); boot == "" || unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return "", 0
	}
	return boot, time.Duration(t.Nano())
}
