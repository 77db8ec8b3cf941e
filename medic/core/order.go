package core

import (
	"fmt"
	"time"
)

// OrderID numbers the orders of a term. Life tells the orders of a leader whose log was set back from those that it gave before in the same
// generation (R14).
type OrderID struct {
	Gen  Generation
	Life uint64 // of the leader
	N    uint64
}

func (o OrderID) after(p OrderID) bool {
	return o.Gen > p.Gen || o.Gen == p.Gen && o.Life == p.Life && o.N > p.N
}

// Order says that a target is to be killed and started (M5).
type Order struct {
	OrderID
	Leader NodeID
	Target NodeID
	Host   string
	// Silent is how long the target had been silent when the order was given. A process that is younger is not the one that was silent:
	// something else has restarted the target already.
	Silent time.Duration
	// Ended says that the process was seen to end. If there is a process now, it was started since.
	Ended bool
	// Until is the deadline for getting the host's lock: a medic that was stopped before it got the lock must not act on an old order. The
	// executor sets it, and it is not sent.
	Until time.Time
	// Margin: the last heartbeat of a process may arrive this long after its end. The executor sets it, and it is not sent.
	Margin time.Duration
	// Young: a process younger than this cannot have been silent for as long as a suspicion takes. The executor sets it, and it is not sent.
	Young time.Duration
}

// Verdict is how an order ended.
type Verdict byte

// The verdicts.
const (
	Done    Verdict = iota + 1 // killed if need be, and started
	Found                      // not touched: the process is younger than the silence
	Refused                    // the host has seen a newer term; Report.Term says which (M4)
	Held                       // somebody is taking the host down
	Late                       // the deadline has passed, or the executor hears the target; the leader may give another order
	Failed                     // Report.Text says why
)

func (v Verdict) String() string {
	names := [...]string{Done: "done", Found: "found", Refused: "refused", Held: "held", Late: "late", Failed: "failed"}
	if v >= Done && int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("verdict %d", byte(v))
}

// Report is the result of an order.
type Report struct {
	Order   OrderID
	Leader  NodeID // the medic that gave the order: two leaders of one generation may use the same number
	Target  NodeID
	Verdict Verdict
	Term    Term // with Refused
	PID     int  // of the target after the order
	Took    time.Duration
	Text    string // for people: how the old process ended, or what went wrong
}

// Term is the term in which the order was given.
func (o *Order) Term() Term { return Term{o.Gen, o.Leader, o.Life} }

// Report returns a report of the order with this verdict.
func (o *Order) Report(v Verdict) Report {
	return Report{Order: o.OrderID, Leader: o.Leader, Target: o.Target, Verdict: v}
}
