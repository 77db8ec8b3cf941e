package zmqx

import "time"

// backoff is the pause before the next attempt to connect: doubling, and cut by up to a half at random so that a
// thousand peers of a restarted node do not come back at the same instant.
type backoff struct {
	min, max time.Duration
	next     time.Duration
}

// pause takes a random number in [0, 1).
func (b *backoff) pause(random float64) time.Duration {
	d := max(b.next, b.min)
	b.next = min(2*d, b.max)
	return d - time.Duration(random*float64(d)/2)
}

func (b *backoff) reset() { b.next = b.min }
