package watch

import (
	"time"

	"posta.dev/posta/internal/awake"
)

// Hang measures how long the progress mark of a node has not moved. It adds up the time between its own ticks, and only between punctual
// ones (M6): a process that was stopped, or got no CPU, has not hung meanwhile.
type Hang struct {
	ticks  awake.Ticks
	mark   uint64
	stands time.Duration
}

// NewHang returns a Hang whose Tick is called at intervals of every from now on.
func NewHang(every time.Duration, now time.Time, mark uint64) *Hang {
	return &Hang{ticks: awake.NewTicks(punctual*every, now), mark: mark}
}

// punctual is how late a tick may be, in intervals. A longer time since the last tick does not count.
const punctual = 2

// Tick takes the mark and returns how long it has not moved. waits says that the loop waits only for the disk. That is
// no hang: a slow disk is never a reason to restart a node.
func (h *Hang) Tick(now time.Time, mark uint64, waits bool) time.Duration {
	ran, _ := h.ticks.Tick(now)
	if h.stands += ran; mark != h.mark || waits {
		h.mark, h.stands = mark, 0
	}
	return h.stands
}

// Stands returns how long the mark had not moved at the last tick; zero if it has moved since.
func (h *Hang) Stands(mark uint64) time.Duration {
	if mark != h.mark {
		return 0
	}
	return h.stands
}
