package nodes

import "time"

// alarm wakes the loop at the earliest of the times that it was set to, once. A ticker was turned down: at the 20 ms that a commit waits
// for more, it is what most wake-ups of a node are, each with one of the Go runtime's monitor, and a node with nothing to do costs
// twice as much as with its heartbeats alone.
type alarm struct {
	timer *time.Timer
	at    time.Time // when it rings; zero when it has rung, or was never set
}

func newAlarm() *alarm {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &alarm{timer: t}
}

// C rings. Who hears it calls rang.
func (a *alarm) C() <-chan time.Time { return a.timer.C }

func (a *alarm) rang() { a.at = time.Time{} }

// set has it ring at a time, unless it rings before that anyway. A time for which there is no need any more is left: to come for nothing is
// cheaper than to set the timer with every event.
func (a *alarm) set(now, at time.Time) {
	if a.at.IsZero() || at.Before(a.at) {
		a.at = at
		a.timer.Reset(at.Sub(now))
	}
}

func (a *alarm) stop() { a.timer.Stop() }
