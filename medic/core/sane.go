package core

import (
	"fmt"
	"time"
)

// Whatever a message says of a generation or an incarnation, the next one must still be possible, and nobody may be pushed so far that the
// others look outdated for ever (M10). Both count events that take most of a second each, so a real one never grows by maxStep between two
// messages: that is twelve days of elections, or of restarts, without a word. What was never heard of before may be old: maxFirst is 136
// years of one event each second.
const (
	maxStep  = 1 << 20
	maxFirst = 1 << 32
)

// saneStep reports whether a number that only grows may be next after last; last is 0 if none was heard before.
func saneStep(last, next uint64) bool {
	return next <= last || next-last <= maxStep || last == 0 && next <= maxFirst
}

// reaches reports whether a medic that knows of generation g believes in the next one.
func (g Generation) reaches(next Generation) bool { return saneStep(uint64(g), uint64(next)) }

// refuse reports something that was not believed, at most once in SuspectAfter: a stranger must not fill a log.
func (c *Core) refuse(now time.Time, format string, args ...any) {
	if c.refusedAt.IsZero() || now.Sub(c.refusedAt) >= c.cfg.SuspectAfter {
		c.refusedAt = now
		c.out.Refused = append(c.out.Refused, fmt.Sprintf(format, args...))
	}
}
