package zmqx

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	// allowance is what each peer's messages may always take: smaller ones never wait for others.
	allowance = 64 << 10

	// growth is what a peer with a full read buffer takes beyond the allowance: the buffer, and the copy of a batch out of it.
	growth = 2 * (maxReadBuffer - allowance)

	// maxGrowth bounds growth over all peers of a socket. Peers that come later keep small buffers.
	maxGrowth = 16 << 20

	// fairRate, in bytes a second, is what a peer must reach when others wait for the memory that its message has.
	fairRate = 1 << 20
)

// intake bounds the memory of the messages that a socket is receiving, over all of its connections (R16). These are incomplete
// messages, and complete ones that wait for a place among the ready batches (inboxDepth). Without it each connection may hold a
// message of the largest size.
//
// A message that needs more than the allowance takes room for all of it before its body is read, and waits while there is none:
// TCP holds its sender back. Giving memory as the bytes come was rejected, because of deadlock: two peers that each have half
// of a large message would wait for the rest of the room for ever.
//
// Strangers have half of the room, known peers the other half (Options.Known), and each half has a queue of its own, so that no
// peer waits for the other kind. While others wait, a peer that exceeds the time for its message is disconnected. So a peer
// that sends a byte a second cannot keep room from others. The time that a message waits for our own receiver does not count.
type intake struct {
	stall time.Duration // Options.ReadStall

	mu        sync.Mutex
	known     room // guarded by mu, as all that follows
	strangers room
	grown     int // bytes of growth that peers have; at most maxGrowth
}

// room is what one kind of peers has.
type room struct {
	size    int // bytes
	held    int // bytes in use; at most size
	holders map[*share]struct{}
	waiting []*share // the one that came first is first
}

// share is what one peer has of the intake. The peer's reader calls its methods. A nil share is for tests: it has all it wants.
type share struct {
	of    *intake
	peer  *peer
	ready chan struct{} // has a token once the room that the share waits for is given

	from *room // the room to which bytes belongs; nil if the peer has none and waits for none. Only the peer's reader uses it

	// Guarded by of.mu.
	bytes  int           // bytes that it has, or waits for
	within time.Duration // how long the message may take while others wait
	since  time.Time     // when the room was given, or when the message was complete
	whole  bool          // the message is complete, but our receiver has not taken it
	grown  bool          // it has growth
}

// newIntake divides ReceiveBytes. If known peers and strangers cannot be told apart, all peers share one room.
func newIntake(o Options) *intake {
	i := &intake{stall: o.ReadStall}
	i.known = room{size: o.ReceiveBytes, holders: map[*share]struct{}{}}
	if o.Known != nil {
		i.known.size /= 2
		i.strangers = room{size: o.ReceiveBytes - i.known.size, holders: map[*share]struct{}{}}
	}
	return i
}

func (i *intake) share(p *peer) *share {
	return &share{of: i, peer: p, ready: make(chan struct{}, 1)}
}

// take waits for room for a message of n bytes.
func (s *share) take(n int) error {
	if s == nil {
		return nil
	}
	if s.from != nil {
		panic("zmqx: invariant: a peer that has room for a message waits for more (R16)")
	}
	i := s.of
	i.mu.Lock()
	s.from, s.bytes, s.within = &i.strangers, n, i.stall+time.Duration(n)*time.Second/fairRate
	if s.peer.known.Load() {
		s.from = &i.known
	}
	s.from.waiting = append(s.from.waiting, s)
	s.from.giveLocked(time.Now())
	i.mu.Unlock()
	return s.wait()
}

// wait waits for the room. While it waits, it disconnects peers that have had room for too long.
func (s *share) wait() error {
	select {
	case <-s.ready: // the usual case
		return nil
	default:
	}
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		select {
		case <-s.ready:
			return nil
		case <-s.peer.quit:
			s.giveBack()
			return net.ErrClosed // the peer's cause says why
		case <-look.C:
			look.Reset(s.cutOff(time.Now()))
		}
	}
}

// cutOff ends the peers of the same kind that have had room for too long, and returns when to look again.
func (s *share) cutOff(now time.Time) time.Duration {
	i := s.of
	i.mu.Lock()
	next := i.stall
	slow := map[*peer]error{} // made while mu is held: a holder that gives its room back changes it
	for h := range s.from.holders {
		if h.whole {
			continue
		}
		if left := h.within - now.Sub(h.since); left > 0 {
			next = min(next, left)
		} else {
			slow[h.peer] = fmt.Errorf("%w: a message of %d bytes took longer than %v while others waited (ReceiveBytes)", errStalled, h.bytes,
				h.within)
		}
	}
	i.mu.Unlock()
	for peer, err := range slow {
		peer.fail(err)
	}
	return max(next, time.Millisecond)
}

// giveLocked gives room to those that came first, for as long as there is some.
func (r *room) giveLocked(now time.Time) {
	for len(r.waiting) > 0 && r.held+r.waiting[0].bytes <= r.size {
		s := r.waiting[0]
		r.waiting = slices.Delete(r.waiting, 0, 1)
		r.held += s.bytes
		r.holders[s] = struct{}{}
		s.since, s.whole = now, false
		s.ready <- struct{}{}
	}
}

// complete notes that the message is complete. From now on it waits only for our own receiver.
func (s *share) complete() {
	if s == nil || s.from == nil {
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.whole = true
}

// giveBack gives the room of a message back, or the place in the queue for it.
func (s *share) giveBack() {
	if s == nil || s.from == nil {
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	r := s.from
	if _, has := r.holders[s]; has {
		delete(r.holders, s)
		r.held -= s.bytes
	} else if at := slices.Index(r.waiting, s); at >= 0 {
		r.waiting = slices.Delete(r.waiting, at, at+1)
	}
	s.from, s.bytes = nil, 0
	select {
	case <-s.ready: // the room was given while the peer ended
	default:
	}
	r.giveLocked(time.Now())
}

// grow reports whether the peer may have a full read buffer.
func (s *share) grow() bool {
	if s == nil {
		return true
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if !s.grown && s.of.grown+growth <= maxGrowth {
		s.of.grown += growth
		s.grown = true
	}
	return s.grown
}

// end gives everything back.
func (s *share) end() {
	if s == nil {
		return
	}
	s.giveBack()
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.grown {
		s.of.grown -= growth
		s.grown = false
	}
}
