package medicsim

import (
	"slices"
	"time"

	"posta.dev/posta/medic/core"
	"posta.dev/posta/test/simulator/eventqueue"
)

// Faults of storage and of clocks: an earlier durable state is restored (R14), messages contain impossible numbers, and the clock for
// people jumps (M10).

// maxCopies is how many copies of a directory or a fence may be restored.
const maxCopies = 8

// backUp copies a medic's directory from time to time, for restore.
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

// restoreFence gives a host one of its earlier fences, or an empty one.
func (w *world) restoreFence() {
	h := eventqueue.OneOf(w.Queue, w.hosts...)
	w.giveFence(h, eventqueue.OneOf(w.Queue, append(h.older, core.Fence{})...))
}

// giveFence replaces a host's fence by an earlier one.
func (w *world) giveFence(h *host, f core.Fence) {
	h.fence, h.restored = f, w.At
	w.report.Injected["fence restored"]++
	w.tracef("%s gets an older fence: %v", h.name, h.fence.Term)
	w.checker.fences.restored(h)
	w.checker.generation.restored(h)
}

// raise raises a host's fence, as a medic does.
func (h *host) raise(t core.Term) {
	before := h.fence
	if h.fence, _ = before.Raise(t); h.fence != before {
		h.older = append(h.older, before)
		h.older = h.older[max(0, len(h.older)-maxCopies):]
	}
}

// absurd may put an impossible generation or incarnation into a message.
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

// clock returns the time of the machines' monotonic clocks; they are never set.
func (w *world) clock() core.Instant { return core.Instant{Boot: "the only one", Since: w.At} }

// hour is the unit of jumps of clocks for people. It lets a checker compute what the clock would have shown without jumps.
const hour = time.Hour

// wall returns the time of the medic's clock for people.
func (t *target) wall(now time.Time) time.Time { return now.Add(t.clock) }

func (w *world) jumpClock() {
	t := w.any(true)
	t.clock = time.Duration(w.Rand.IntN(21)-10) * hour
	w.report.Injected["clock jumps"]++
	w.tracef("the clock of %s is wrong by %v", t.ID, t.clock)
}

// trueTime returns when an entry was written, whatever its leader's clock showed: no run takes half an hour.
func (w *world) trueTime(at time.Time) time.Time { return at.Add(-at.Sub(w.moment(0)).Round(hour)) }
