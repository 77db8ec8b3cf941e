package core

import (
	"math"
	"time"
)

// Fence is the durable state of a host: the newest term that it has seen, and whether it is being taken down. It is a file of the host and
// not in a medic's log, because it binds all medics of the host (M4).
type Fence struct {
	Term Term
	Down bool
}

// Raise returns the fence with a newer term; false if the term is not newer. If two leaders have the same generation, the first one that
// acts on a host owns the generation there. The other one is refused, and has to take a new generation. The same holds for two starts of
// one leader (R14).
func (f Fence) Raise(t Term) (Fence, bool) {
	if t.Gen <= f.Term.Gen {
		return f, false
	}
	f.Term = t
	return f, true
}

// Instant is a moment on a machine's monotonic clock, which nobody can set (M10). Instants of different boots cannot be compared.
type Instant struct {
	Boot  string        // the machine's boot; "" in the zero Instant, which is not a moment
	Since time.Duration // on the clock of that boot
}

// Started is a host's note about a target: its last start, and the last order about it with the verdict.
type Started struct {
	At      Instant
	Order   OrderID // zero: none
	Verdict Verdict // Done or Found
}

// After returns the note after an order about the target was checked and not carried out.
func (s Started) After(r Report) Started {
	if r.Verdict == Found && r.Order.after(s.Order) {
		s.Order, s.Verdict = r.Order, r.Verdict
	}
	return s
}

// longAgo is the age of a process whose start is unknown: no order is refused because of its age.
const longAgo = math.MaxInt64

// age returns how long ago the start was. A process of another boot has ended with that boot.
func (s Started) age(now Instant) time.Duration {
	if s.At.Boot == "" || s.At.Boot != now.Boot || s.At.Since > now.Since {
		return longAgo
	}
	return now.Since - s.At.Since
}

// Decide checks an order on its host, under the host's lock. do reports whether the target is to be killed and started now. alive: the
// target has a process. last: the note of its last start. clock: the host's clock.
func (f Fence) Decide(o Order, last Started, alive bool, now time.Time, clock Instant) (r Report, do bool) {
	r = o.Report(Done)
	switch {
	case o.Gen < f.Term.Gen, o.Gen == f.Term.Gen && o.Term() != f.Term:
		r.Verdict, r.Term = Refused, f.Term
	case last.Order.Gen > o.Gen:
		// The fence was set back, but the note of the start still has the newer generation. The leader takes one above it (R14).
		r.Verdict, r.Term = Refused, Term{Gen: last.Order.Gen}
	case f.Down:
		r.Verdict = Held
	case now.After(o.Until):
		r.Verdict = Late
	case last.Order == o.OrderID: // carried out before; its report was lost
		r.Verdict = last.Verdict
	case last.Order.after(o.OrderID): // a newer order was carried out
		r.Verdict = Found
	case alive && (o.Ended || last.age(clock) < max(o.Silent+o.Margin, o.Young)):
		r.Verdict = Found
	default:
		return r, true
	}
	return r, false
}
