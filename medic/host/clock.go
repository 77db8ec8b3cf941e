package host

import (
	"posta.dev/posta/internal/bootclock"
	"posta.dev/posta/medic/core"
)

// clock returns the machine's monotonic clock (M10). If it cannot be read, the Instant is zero, and a start that is noted with this Instant
// counts as long ago.
func clock() core.Instant {
	boot, since := bootclock.Read()
	return core.Instant{Boot: boot, Since: since}
}
