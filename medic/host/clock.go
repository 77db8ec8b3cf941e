package host

import (
	"time"

	"golang.org/x/sys/unix"

	"posta.dev/posta/medic/core"
)

// clock is the machine's monotonic clock: nobody sets it, and all processes of the machine, containers included, see the same one (M10).
// Where it cannot be read the Instant is no moment, and a start that is noted with it counts as long ago.
func clock() core.Instant {
	var t unix.Timespec
	boot := bootID()
	if boot == "" || unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return core.Instant{}
	}
	return core.Instant{Boot: boot, Since: time.Duration(t.Nano())}
}
