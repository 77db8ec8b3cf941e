package core

import "time"

// target is a node or medic as its leader treats it (M5). Only a leader has targets, and each term begins with new ones. What the leader
// does next depends on the phase; transitions.go has all changes of phase.
type target struct {
	Member
	phase phase
	// since is when the phase began; in ordered it is when the present executor was chosen. The time in which this medic slept or heard nobody
	// is added, so since may be later than the event.
	since time.Time
	// wait is how long the phase waiting lasts. Each transition to waiting sets it, or keeps what the last suspicion set.
	wait time.Duration
	// lastSeen is the last sign of life before the current failure; zero before the first failure of the term.
	lastSeen time.Time
	// incarnations are those known when it failed; a sign of one of them does not show a recovery.
	incarnations []incarnation

	// order is the current order. It is valid in the phase ordered, and kept afterwards, so that no report counts twice.
	order    Order
	executor NodeID    // of the order; "" while no medic reaches the host
	decided  time.Time // when the order was decided; a sign of life after it recalls an order that has not left
	given    time.Time // when the order was last given
	// sent: the order has left, or this medic carries it out. It cannot be recalled any more.
	sent bool

	started time.Time // when the report of the last start came; valid in starting
	adopted bool      // the order found a young process and started none; valid in starting
	failed  int       // starts in a row after which nothing was heard; 0 after a recovery
}

type phase int

const (
	well     phase = iota // nothing to do
	waiting               // it is silent; its restart waits for the pause of a crash loop
	ordered               // a restart is ordered, and not reported yet
	starting              // it was started, and its new incarnation does not work yet
)

func (p phase) String() string { return [...]string{"well", "waiting", "ordered", "starting"}[p] }

// heardAgain reports whether it was heard since it failed.
func (t *target) heardAgain(v *liveness) bool { return v.known && v.lastSign.After(t.lastSeen) }

// reborn reports whether a newer incarnation than the failed one is heard.
func (t *target) reborn(v *liveness) bool { return t.heardAgain(v) && v.isNew(t.incarnations) }

// stillMissed reports whether it is still silent. If a start failed, no heartbeat has come since.
func (t *target) stillMissed(v *liveness, cfg *Config, now time.Time) bool {
	return t.failed > 0 || v.dead(cfg, now)
}
