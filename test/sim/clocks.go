package sim

import (
	"time"

	"posta.dev/posta/test/simulator/clock"
	"posta.dev/posta/test/simulator/eventqueue"
)

// machineClock contains the clocks of a node's machine: a wall clock, which people and NTP set, and a monotonic clock, which counts from
// the start of the process.
type machineClock struct {
	wrong  time.Duration // how far the wall clock is ahead
	booted time.Duration // when the process began
}

// now returns the time that the node's process reads (M10).
func (n *node) now() time.Time {
	return clock.Read(n.w.Now().Add(n.clock.wrong), n.w.At-n.clock.booted)
}

// jumpClock sets a machine's wall clock forward or back, by little or by years, or sets it right again.
func (w *world) jumpClock(n *node) {
	w.injected("clock jump")
	far := eventqueue.OneOf(w.Queue, time.Second, time.Minute, 25*time.Hour, 30*365*24*time.Hour)
	n.clock.wrong = eventqueue.OneOf(w.Queue, 0, w.Between(0, far), -w.Between(0, far))
	if w.rightClocks {
		n.clock.wrong = 0
	}
	w.tracef("the clock of %s is wrong by %v", n.id, n.clock.wrong)
}
