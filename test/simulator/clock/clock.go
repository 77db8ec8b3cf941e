// Package clock makes times as a process on a simulated machine reads them, with a wall clock and a monotonic clock that may disagree. It
// is for tests.
//
// A core gets times as arguments and may only subtract them. Package time then uses the monotonic clock, so a jump of the wall clock
// changes nothing. A core that bases a decision on formatting a time, rounding it, or its Unix seconds uses the wall clock. With times of
// this package a simulator detects this.
package clock

import (
	"time"
	"unsafe"
)

// Read returns what time.Now returns when the wall clock shows wall and the process has run for uptime. The year of wall must be from
// 1885 to 2157.
//
// Package time has no function for this. Read writes the internal fields of a Time. The test of this package detects it if package time
// changes these fields.
func Read(wall time.Time, uptime time.Duration) time.Time {
	const (
		hasMonotonic = 1 << 63
		shift        = 30 // position of the seconds; the nanoseconds are below
	)
	var t time.Time
	in := (*struct {
		wall uint64
		ext  int64
		loc  *time.Location
	})(unsafe.Pointer(&t))
	in.wall = hasMonotonic | uint64(wall.Unix()-since1885)<<shift | uint64(wall.Nanosecond())
	in.ext = int64(uptime) + 1 // plus 1, because 0 means that there is no reading
	return t
}

// since1885 is the Unix time from which a Time with a monotonic reading counts its seconds.
var since1885 = time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
