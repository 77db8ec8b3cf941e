package core

import "time"

// target is a node or medic as its leader treats it (M5). Only a leader has targets, and they are made anew in each of its terms. What the
// leader does next depends on the phase; transitions.go has all changes of phase.
type target struct {
	Member
	phase phase
	// since is when the phase began; in ordered it is when the present executor got its turn. Time in which this medic slept or heard
	// nobody is taken out of it, so it may be later than what really happened.
	since time.Time
	// wait is how long waiting lasts. Every transition to waiting sets it, or leaves what the suspicion before has set.
	wait time.Duration
	// lastSeen is the last sign of life before the failure that is being treated. It is zero before the first failure of the term.
	lastSeen time.Time
	// incarnations are those that had been heard when it failed; a sign of one of them is no sign of a recovery.
	incarnations []incarnation

	// order is the one that is out. It is valid in ordered, and stays afterwards, so that no report is taken twice.
	order    Order
	executor NodeID    // of the order; "" while no medic reaches the host
	decided  time.Time // the moment of the decision to order; a sign of life since then calls the order off while it has not left
	given    time.Time // when the order was given last
	// sent: the order has left, or was taken in hand here. It cannot be called off any more.
	sent bool

	started time.Time // when the report of the last start came; valid in starting
	adopted bool      // nobody started it for this failure: a young process was found. Valid in starting
	failed  int       // starts in a row after which nothing was heard; 0 once a recovery was seen
}

type phase int

const (
	well     phase = iota // nothing is to be done
	waiting               // it is missed; its restart waits for its turn in a crash loop
	ordered               // an order is out, and its report is not in
	starting              // it was started, and its new incarnation is not at work yet
)

func (p phase) String() string { return [...]string{"well", "waiting", "ordered", "starting"}[p] }

// heardAgain reports whether it was heard after the signs of life that it had given before it failed.
func (t *target) heardAgain(v *liveness) bool { return v.known && v.lastSign.After(t.lastSeen) }

// reborn reports whether an incarnation is heard that is neither the one that failed, nor one before it.
func (t *target) reborn(v *liveness) bool { return t.heardAgain(v) && v.isNew(t.incarnations) }

// stillMissed reports whether it is silent still. If no heartbeat came after a start, the silence is that of the start.
func (t *target) stillMissed(v *liveness, cfg *Config, now time.Time) bool {
	return t.failed > 0 || v.dead(cfg, now)
}
