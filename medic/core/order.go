package core

import (
	"fmt"
	"time"
)

// OrderID numbers orders: within a term they count up, and generations do. The life keeps the orders of a leader whose log was set back
// from those that it gave before (R14).
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
	// Silent is how long nothing had been heard of the target's process when the order was given. A process that is younger cannot be
	// the one that was silent: somebody else has restarted the target already.
	Silent time.Duration
	// Ended says that the process was seen to end. If there is one now, it is another, and was started since.
	Ended bool
	// Until is when the order has to be in hand on the host; a medic that was stopped on the way must not act on it. It is set by the executor,
	// and does not travel.
	Until time.Time
	// Margin is set by the executor, too: a last heartbeat may have arrived that much after its process' end.
	Margin time.Duration
	// Young, likewise: nobody can have missed a process for as long as a suspicion takes that has not lived so long.
	Young time.Duration
}

// Verdict is what became of an order.
type Verdict byte

// The verdicts.
const (
	Done    Verdict = iota + 1 // killed if need be, and started
	Found                      // not touched: the process is younger than the silence
	Refused                    // the host has seen a newer term; Report.Term says which (M4)
	Held                       // somebody is taking the host down
	Late                       // not in hand in time, or the executor hears the target; the leader may give another order
	Failed                     // Report.Text says why
)

func (v Verdict) String() string {
	names := [...]string{Done: "done", Found: "found", Refused: "refused", Held: "held", Late: "late", Failed: "failed"}
	if v >= Done && int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("verdict %d", byte(v))
}

// Report is what became of an order.
type Report struct {
	Order   OrderID
	Leader  NodeID // the medic that gave it: two leaders of one generation may use the same number
	Target  NodeID
	Verdict Verdict
	Term    Term // with Refused
	PID     int  // of the target now
	Took    time.Duration
	Text    string // for people: how the old process ended, or what went wrong
}

// Term is the one in which the order was given.
func (o *Order) Term() Term { return Term{o.Gen, o.Leader, o.Life} }

// Report is the report of an order.
func (o *Order) Report(v Verdict) Report {
	return Report{Order: o.OrderID, Leader: o.Leader, Target: o.Target, Verdict: v}
}
