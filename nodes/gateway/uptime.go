package gateway

import "time"

// Uptime is the clock of a node's machine. It counts from the boot, and all processes of the machine share it. Ages that outlive a process
// are measured with it (M10): the wall clock may jump, and a process's own clock ends with the process.
type Uptime struct {
	Boot string    // names the boot; empty: unknown
	Zero time.Time // when the machine's clock was zero, on this process's clock
}

// Age is an age that one process stores and a later one reads.
type Age struct {
	Boot string        // the boot in which it was stored; empty: no age is stored
	At   time.Duration // the machine's clock when it was stored
	Age  time.Duration
}

// Store returns the form in which the age at now is stored.
func (u Uptime) Store(now time.Time, age time.Duration) Age {
	if u.Boot == "" {
		return Age{Age: age}
	}
	return Age{u.Boot, now.Sub(u.Zero), age}
}

// Now returns the age at now. After a reboot, the time since the age was stored is lost, because the machine's downtime is unknown.
func (u Uptime) Now(now time.Time, a Age) time.Duration {
	if a.Boot == "" || a.Boot != u.Boot {
		return a.Age
	}
	return a.Age + max(0, now.Sub(u.Zero)-a.At)
}
