package watch

import (
	"time"

	"posta.dev/posta/internal/awake"
)

// Long notices a piece of work that takes long. Like [Hang], it counts only the time between punctual ticks.
type Long struct {
	ticks awake.Ticks
	after time.Duration
	token Token
	took  time.Duration
}

// NewLong returns a Long whose Tick is called at intervals of every from now on. Work is long from the given time on.
func NewLong(every, after time.Duration, now time.Time) *Long {
	return &Long{ticks: awake.NewTicks(punctual*every, now), after: after}
}

// Tick takes the oldest piece of work that is under way, 0 if there is none, and reports whether it is long.
func (l *Long) Tick(now time.Time, oldest Token) bool {
	ran, _ := l.ticks.Tick(now)
	if l.took += ran; oldest != l.token {
		l.token, l.took = oldest, 0
	}
	return oldest != 0 && l.took >= l.after
}
