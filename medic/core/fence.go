package core

import (
	"math"
	"time"
)

// Fence is what a host has durably seen: the newest term, and whether it is being taken down. It lies on the host and not in a medic's
// log, because all medics of the host are bound by it (M4).
type Fence struct {
	Term Term
	Down bool
}

// Raise is the fence after a term was heard of; false if that changes nothing. Of two leaders of one generation the first one that
// acts on a host has the generation there: the other is refused, and needs a new one. So has the first one of two lives of a leader (R14).
func (f Fence) Raise(t Term) (Fence, bool) {
	if t.Gen <= f.Term.Gen {
		return f, false
	}
	f.Term = t
	return f, true
}

// Instant is a moment on a machine's monotonic clock, which nobody sets (M10). Two of different boots say nothing about each other.
type Instant struct {
	Boot  string        // the machine's boot; "" in the zero Instant, which is no moment
	Since time.Duration // on the clock of that boot
}

// Started is what a host remembers of the last start of a target, and of the last order that it was judged by.
type Started struct {
	At      Instant
	Order   OrderID // zero: none
	Verdict Verdict // Done or Found
}

// After is what the host remembers once an order was judged and not carried out.
func (s Started) After(r Report) Started {
	if r.Verdict == Found && r.Order.after(s.Order) {
		s.Order, s.Verdict = r.Order, r.Verdict
	}
	return s
}

// longAgo is the age of a process about whose start nothing is known: nobody protects it from an order.
const longAgo = math.MaxInt64

// age is how long ago the start was. A note of another boot is of a process that has ended with it.
func (s Started) age(now Instant) time.Duration {
	if s.At.Boot == "" || s.At.Boot != now.Boot || s.At.Since > now.Since {
		return longAgo
	}
	return now.Since - s.At.Since
}

// Decide decides about an order where it is carried out, under the host's lock; do means that the target is to be killed and started
// now. alive is whether the target has a process, last what is known of its start, clock the host's.
func (f Fence) Decide(o Order, last Started, alive bool, now time.Time, clock Instant) (r Report, do bool) {
	r = o.Report(Done)
	switch {
	case o.Gen < f.Term.Gen, o.Gen == f.Term.Gen && o.Term() != f.Term:
		r.Verdict, r.Term = Refused, f.Term
	case last.Order.Gen > o.Gen:
		// The fence was set back, and what it knew still stands in the note of the start. The leader takes a generation above it (R14).
		r.Verdict, r.Term = Refused, Term{Gen: last.Order.Gen}
	case f.Down:
		r.Verdict = Held
	case now.After(o.Until):
		r.Verdict = Late
	case last.Order == o.OrderID: // the report was lost
		r.Verdict = last.Verdict
	case last.Order.after(o.OrderID): // it comes late
		r.Verdict = Found
	case alive && (o.Ended || last.age(clock) < max(o.Silent+o.Margin, o.Young)):
		r.Verdict = Found
	default:
		return r, true
	}
	return r, false
}
