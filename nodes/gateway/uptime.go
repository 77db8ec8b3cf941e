package gateway

import "time"

// Uptime is the clock of a node's machine, which counts since its boot and which all processes of the machine share. Ages that outlive
// a process are measured with it (M10): a wall clock may jump, and a process's own clock ends with it.
type Uptime struct {
	Boot string    // names the boot; empty: nobody knows
	Zero time.Time // when the clock was zero, by the clock of this process
}

// Age is how old something is, as it was stored by one process and is read by another one.
type Age struct {
	Boot string        // that it was stored in; empty: none
	At   time.Duration // the clock, then
	Age  time.Duration
}

// Store returns an age at a moment as it can be stored.
func (u Uptime) Store(now time.Time, age time.Duration) Age {
	if u.Boot == "" {
		return Age{Age: age}
	}
	return Age{u.Boot, now.Sub(u.Zero), age}
}

// Now returns how old something is now. In another boot nobody knows how long the machine was down: that time is lost.
func (u Uptime) Now(now time.Time, a Age) time.Duration {
	if a.Boot == "" || a.Boot != u.Boot {
		return a.Age
	}
	return a.Age + max(0, now.Sub(u.Zero)-a.At)
}
