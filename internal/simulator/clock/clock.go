// Package clock makes times as a process on some machine reads them: the wall clock says one thing, the monotonic clock another. It is for
// tests.
//
// A core is given times and may only subtract them. The package time then uses the monotonic clock, so a wall clock that jumps changes
// nothing. A core that formats a time, rounds it, or asks for its Unix seconds, and decides by that, decides by the wall clock; with times of
// this package a simulator finds it.
package clock

import (
	"time"
	"unsafe"
)

// Read returns what time.Now returns when the wall clock shows wall, and the process has run for uptime. The wall clock must show a year
// from 1885 to 2157.
//
// The package time has no function for this. What it keeps in a Time is written here, and the test of this package notices when it keeps
// something else.
func Read(wall time.Time, uptime time.Duration) time.Time {
	const (
		hasMonotonic = 1 << 63
		shift        = 30 // of the seconds; the nanoseconds are below
	)
	var t time.Time
	in := (*struct {
		wall uint64
		ext  int64
		loc  *time.Location
	})(unsafe.Pointer(&t))
	in.wall = hasMonotonic | uint64(wall.Unix()-since1885)<<shift | uint64(wall.Nanosecond())
	in.ext = int64(uptime) + 1 // zero is not a reading
	return t
}

// since1885 is the Unix time at which the seconds of a Time with a monotonic reading begin.
var since1885 = time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
