package zmqx

import (
	"crypto/tls"
	"fmt"
)

// proof is what a peer has proven of itself. Its zero value is that of a peer on a plain socket.
type proof struct {
	from   string // its name
	state  tls.ConnectionState
	checks int // how many calls of Recheck there were when its handshake began
}

// Recheck asks Options.TLS about each peer again, and ends those that are refused now or that have another name or role: after keys were
// revoked, for instance. A handshake that is under way meanwhile is asked again before its peer is admitted.
func (s *socket) Recheck() {
	if s.opt.TLS == nil {
		return
	}
	s.mu.Lock()
	s.checks++
	s.mu.Unlock()
	for _, p := range s.allPeers() {
		if err := s.stillProven(p.proof); err != nil {
			p.fail(err)
		}
	}
}

func (s *socket) checksSoFar() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checks
}

func (s *socket) stillProven(p proof) error {
	switch from, err := s.opt.TLS.Peer(p.state); {
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrRefused, p.from, err)
	case from != p.from:
		return fmt.Errorf("%w: %s is %s now, and has to connect again", ErrRefused, p.from, from)
	}
	return nil
}
