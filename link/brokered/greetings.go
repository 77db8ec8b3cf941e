package brokered

import (
	"sync"
	"time"

	"posta.dev/posta/link"
)

// Greetings paces hellos to one receiver. A link repeats them every few hundred milliseconds while nothing is heard, which costs a
// connection nothing. In a queue they would gather for as long as the receiver is away, a hundred megabytes a week. So they
// come later and later while there is no news of the receiver.
type Greetings struct {
	mu   sync.Mutex
	next time.Time
	wait time.Duration
	last link.Ack
}

const (
	firstGreeting = 300 * time.Millisecond
	rareGreeting  = 30 * time.Second
)

// May reports whether a hello may be said now, and counts it as said.
func (g *Greetings) May(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Before(g.next) {
		return false
	}
	g.wait = min(max(firstGreeting, 2*g.wait), rareGreeting)
	g.next = now.Add(g.wait)
	return true
}

// Connected says that hellos said before may be lost.
func (g *Greetings) Connected() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next, g.wait = time.Time{}, 0
}

// Heard takes an acknowledgement of the receiver: whatever is new in it is news.
func (g *Greetings) Heard(a link.Ack) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a != g.last {
		g.next, g.wait = time.Time{}, 0
	}
	g.last = a
}
