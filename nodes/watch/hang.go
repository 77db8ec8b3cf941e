package watch

import "time"

// Hang counts for how long the mark of a node has stood. It counts by ticks of its own, and only by those that come in time (M6): a process that
// was stopped, or got no processor, has not hung meanwhile.
type Hang struct {
	every  time.Duration // between two ticks
	ticked time.Time
	mark   uint64
	stands time.Duration
}

// NewHang returns one that is ticked every so often from now on.
func NewHang(every time.Duration, now time.Time, mark uint64) *Hang {
	return &Hang{every: every, ticked: now, mark: mark}
}

// punctual is how late a tick may be, in ticks: the time since the last one counts if it is not longer.
const punctual = 2

// Tick takes the mark, and returns for how long it has stood. waits says that the loop waits for the disk and for nothing else, which is no hang:
// a slow disk is never a reason to restart a node.
func (h *Hang) Tick(now time.Time, mark uint64, waits bool) time.Duration {
	gap := now.Sub(h.ticked)
	h.ticked = now
	switch {
	case mark != h.mark || waits:
		h.mark, h.stands = mark, 0
	case gap <= punctual*h.every:
		h.stands += gap
	}
	return h.stands
}

// Stands is for how long the mark had stood at the last tick; zero if it has moved since.
func (h *Hang) Stands(mark uint64) time.Duration {
	if mark != h.mark {
		return 0
	}
	return h.stands
}
