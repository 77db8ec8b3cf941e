package medicsim

import (
	"slices"
	"time"

	"posta.dev/posta/internal/simulator/eventqueue"
	"posta.dev/posta/medic/core"
)

// Faults of storage and of clocks: what is durable comes back as it was some time ago (R14), somebody says what cannot be, and the clock for
// people jumps (M10).

// maxCopies is how many copies of a directory or a fence may be restored.
const maxCopies = 8

// backUp copies a medic's directory now and then, for restore.
func (t *target) backUp() {
	if t.w.Chance(min(1, 2*t.w.faults.restore)) {
		d := t.disk
		d.entries, d.opened = slices.Clone(d.entries), t.incarnations
		t.older = append(t.older, d)
		t.older = t.older[max(0, len(t.older)-maxCopies):]
	}
}

// restore puts an older copy of a dead medic's directory in its place.
func (t *target) restore() {
	w := t.w
	if len(t.older) == 0 || !w.Chance(w.faults.restore) {
		return
	}
	w.report.Injected["directory restored"]++
	t.disk = eventqueue.OneOf(w.Queue, t.older...)
	t.disk.entries, t.incarnations = slices.Clone(t.disk.entries), t.disk.opened
	w.tracef("%s gets an older directory: term %v, %d entries", t.ID, t.disk.term, len(t.disk.entries))
}

// restoreFence gives a host back what it had seen some time ago, or nothing.
func (w *world) restoreFence() {
	h := eventqueue.OneOf(w.Queue, w.hosts...)
	w.giveFence(h, eventqueue.OneOf(w.Queue, append(h.older, core.Fence{})...))
}

// giveFence puts something that a host had seen before in the place of what it has seen.
func (w *world) giveFence(h *host, f core.Fence) {
	h.fence, h.restored = f, w.At
	w.report.Injected["fence restored"]++
	w.tracef("%s gets an older fence: %v", h.name, h.fence.Term)
	w.checker.fences.restored(h)
	w.checker.generation.restored(h)
}

// raise is what a medic does to a host's fence.
func (h *host) raise(t core.Term) {
	before := h.fence
	if h.fence, _ = before.Raise(t); h.fence != before {
		h.older = append(h.older, before)
		h.older = h.older[max(0, len(h.older)-maxCopies):]
	}
}

// absurd returns a message as nobody means it: of a generation, or an incarnation, that cannot be.
func (w *world) absurd(m core.Message) core.Message {
	if !w.Chance(w.faults.absurd) {
		return m
	}
	w.report.Injected["absurd number"]++
	if w.Chance(0.5) {
		m.ID.Incarnation = eventqueue.OneOf(w.Queue, uint64(1)<<33, 1<<63)
	} else {
		m.Term.Gen, m.Leading = eventqueue.OneOf(w.Queue, core.Generation(1)<<33, 1<<62), true
	}
	return m
}

// clock is what the monotonic clocks of all machines say: none of them is ever set.
func (w *world) clock() core.Instant { return core.Instant{Boot: "the only one", Since: w.At} }

// hour is what clocks for people jump by, so that a checker can tell what a clock that did not jump would have said.
const hour = time.Hour

// wall is the medic's clock for people.
func (t *target) wall(now time.Time) time.Time { return now.Add(t.clock) }

func (w *world) jumpClock() {
	t := w.any(true)
	t.clock = time.Duration(w.Rand.IntN(21)-10) * hour
	w.report.Injected["clock jumps"]++
	w.tracef("the clock of %s is wrong by %v", t.ID, t.clock)
}

// trueTime is when an entry was written, whatever the clock of its leader said: no run takes half an hour.
func (w *world) trueTime(at time.Time) time.Time { return at.Add(-at.Sub(w.moment(0)).Round(hour)) }
