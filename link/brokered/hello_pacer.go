package brokered

import (
	"sync"
	"time"

	"posta.dev/posta/link"
)

// HelloPacer spaces the hellos to one receiver. A link repeats them every few hundred milliseconds while nothing is heard, which costs a
// connection nothing. In a queue they would gather for as long as the receiver is away, a hundred megabytes a week. So the pause between
// them doubles while there is no news of the receiver.
type HelloPacer struct {
	mu   sync.Mutex
	next time.Time
	wait time.Duration
	last link.Ack
}

const (
	firstPause   = 300 * time.Millisecond
	longestPause = 30 * time.Second
)

// May reports whether a hello may be sent now, and counts it as sent.
func (p *HelloPacer) May(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.next) {
		return false
	}
	p.wait = min(max(firstPause, 2*p.wait), longestPause)
	p.next = now.Add(p.wait)
	return true
}

// Connected says that earlier hellos may be lost.
func (p *HelloPacer) Connected() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next, p.wait = time.Time{}, 0
}

// Heard takes an acknowledgement of the receiver. One that differs from the last is news.
func (p *HelloPacer) Heard(a link.Ack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a != p.last {
		p.next, p.wait = time.Time{}, 0
	}
	p.last = a
}
