package nodes

import "time"

// alarm wakes the loop once, at the earliest of the times that it was set to. A ticker was rejected. It would have to
// tick every 20 ms, which is how long a commit waits for more, and each tick also wakes the Go runtime's monitor. An
// idle node would cost twice as much as with its heartbeats alone.
type alarm struct {
	timer *time.Timer
	at    time.Time // when it rings; zero if it has rung or was never set
}

func newAlarm() *alarm {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &alarm{timer: t}
}

// C delivers the ring. Its receiver calls rang.
func (a *alarm) C() <-chan time.Time { return a.timer.C }

func (a *alarm) rang() { a.at = time.Time{} }

// set makes the alarm ring at the given time, unless it rings earlier anyway. An alarm that is no longer needed is not cancelled: one
// needless wake-up is cheaper than setting the timer at every event.
func (a *alarm) set(now, at time.Time) {
	if a.at.IsZero() || at.Before(a.at) {
		a.at = at
		a.timer.Reset(at.Sub(now))
	}
}

func (a *alarm) stop() { a.timer.Stop() }
