package core

import (
	"fmt"
	"time"
)

// A forged or damaged message must not raise a generation or incarnation so far that real ones look outdated for ever, or that the next one
// overflows (M10). Both count events that take most of a second each. So a real one never grows by maxStep between two messages: that would
// take twelve days of elections, or of restarts, without a message. A number that was never heard before may be high: maxFirst is 136 years
// with one event each second.
const (
	maxStep  = 1 << 20
	maxFirst = 1 << 32
)

// saneStep reports whether next is plausible after last, for a number that only grows; last is 0 if none was heard before.
func saneStep(last, next uint64) bool {
	return next <= last || next-last <= maxStep || last == 0 && next <= maxFirst
}

// reaches reports whether a medic that knows generation g accepts the next one.
func (g Generation) reaches(next Generation) bool { return saneStep(uint64(g), uint64(next)) }

// refuse reports an implausible message, at most one in SuspectAfter: a stranger must not be able to fill a log.
func (c *Core) refuse(now time.Time, format string, args ...any) {
	if c.refusedAt.IsZero() || now.Sub(c.refusedAt) >= c.cfg.SuspectAfter {
		c.refusedAt = now
		c.out.Refused = append(c.out.Refused, fmt.Sprintf(format, args...))
	}
}
