package brokered

import (
	"sync"
	"time"

	"posta.dev/posta/link"
)

// helloPacer limits the hellos to one receiver. A link repeats them every few hundred milliseconds while it hears nothing, which is cheap
// over a direct connection. In a queue they would collect while the receiver is away, a hundred megabytes a week. So the pause between them
// doubles while the receiver sends no new acknowledgement.
type helloPacer struct {
	mu   sync.Mutex
	next time.Time
	wait time.Duration
	last link.Ack
}

const (
	firstPause   = 300 * time.Millisecond
	longestPause = 30 * time.Second
)

// may reports whether a hello may be sent now, and counts it as sent.
func (p *helloPacer) may(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.next) {
		return false
	}
	p.wait = min(max(firstPause, 2*p.wait), longestPause)
	p.next = now.Add(p.wait)
	return true
}

// Connected reports that earlier hellos may be lost.
func (p *helloPacer) Connected() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next, p.wait = time.Time{}, 0
}

// Heard takes an acknowledgement of the receiver. If it differs from the last one the pause starts again at its shortest.
func (p *helloPacer) Heard(a link.Ack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a != p.last {
		p.next, p.wait = time.Time{}, 0
	}
	p.last = a
}
