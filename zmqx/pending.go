package zmqx

import (
	"net"
	"slices"
	"sync"
)

// pendingHandshakes are the connections of a listener whose handshake is not over. When there are max of them, a new one evicts
// the oldest: an honest peer needs milliseconds, so the oldest is most likely a silent one. Refusing the new one was rejected:
// max silent clients would lock out everybody.
type pendingHandshakes struct {
	max int

	mu      sync.Mutex
	removed *sync.Cond // signalled when a connection has left conns
	conns   []*pending // at most max, the oldest first
}

// pending is one of these connections. The goroutine that runs its handshake removes it, also after an eviction.
type pending struct {
	conn    net.Conn
	evicted bool // its connection was closed in favour of a newer one; guarded by the mutex of pendingHandshakes
}

func newPendingHandshakes(max int) *pendingHandshakes {
	h := &pendingHandshakes{max: max}
	h.removed = sync.NewCond(&h.mu)
	return h
}

// add waits until there are fewer than max, after it has made sure that one of them ends at once.
func (h *pendingHandshakes) add(conn net.Conn) *pending {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.conns) >= h.max {
		h.evictOldestLocked()
	}
	for len(h.conns) >= h.max {
		h.removed.Wait()
	}
	p := &pending{conn: conn}
	h.conns = append(h.conns, p)
	return p
}

// evictOldestLocked closes the oldest connection; its handshake then fails.
func (h *pendingHandshakes) evictOldestLocked() {
	for _, p := range h.conns {
		if !p.evicted {
			p.evicted = true
			p.conn.Close()
			return
		}
	}
}

func (h *pendingHandshakes) remove(p *pending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(h.conns, p); i >= 0 {
		h.conns = slices.Delete(h.conns, i, i+1)
	}
	h.removed.Signal()
}
