package zmqx

import "sync/atomic"

// counters are written by many goroutines.
type counters struct {
	connects, refused, failed, dropped, received atomic.Uint64
}

// Stats are totals since the socket was made, except Peers.
type Stats struct {
	Peers    int    // connections now
	Connects uint64 // good handshakes
	Refused  uint64 // accepted connections turned away: handshake failed or too slow, or too many
	Failed   uint64 // own attempts to connect that failed
	Dropped  uint64 // messages dropped: queue full (PUB, ROUTER) or connection lost
	Received uint64 // messages received
}

// Stats may be called at any time, also after Close.
func (s *socket) Stats() Stats {
	s.mu.Lock()
	peers := len(s.peers)
	s.mu.Unlock()
	return Stats{
		Peers:    peers,
		Connects: s.count.connects.Load(),
		Refused:  s.count.refused.Load(),
		Failed:   s.count.failed.Load(),
		Dropped:  s.count.dropped.Load(),
		Received: s.count.received.Load(),
	}
}
