package zmqx

import (
	"fmt"
	"slices"
	"sync"
)

// subscriptions are the prefixes of one subscriber. Asking costs one map lookup per distinct length, not per prefix.
type subscriptions struct {
	max, maxTopic int

	mu       sync.RWMutex
	prefixes map[string]struct{}
	lengths  []int // distinct, ascending
}

func newSubscriptions(max, maxTopic int) *subscriptions {
	return &subscriptions{max: max, maxTopic: maxTopic, prefixes: make(map[string]struct{})}
}

// add is idempotent, as libzmq's is for one peer.
func (s *subscriptions) add(prefix []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, have := s.prefixes[string(prefix)]; have {
		return nil
	}
	if len(prefix) > s.maxTopic {
		return fmt.Errorf("%w: subscription of %d bytes, at most %d (MaxTopic)", ErrTooLarge, len(prefix), s.maxTopic)
	}
	if len(s.prefixes) >= s.max {
		return fmt.Errorf("%w: more than %d subscriptions (MaxSubscriptions)", ErrTooLarge, s.max)
	}
	s.prefixes[string(prefix)] = struct{}{}
	s.measureLocked()
	return nil
}

func (s *subscriptions) remove(prefix []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.prefixes, string(prefix))
	s.measureLocked()
}

func (s *subscriptions) measureLocked() {
	s.lengths = s.lengths[:0]
	for p := range s.prefixes {
		if i, found := slices.BinarySearch(s.lengths, len(p)); !found {
			s.lengths = slices.Insert(s.lengths, i, len(p))
		}
	}
}

func (s *subscriptions) match(topic []byte) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, n := range s.lengths {
		if n > len(topic) {
			return false
		}
		if _, ok := s.prefixes[string(topic[:n])]; ok {
			return true
		}
	}
	return false
}

func (s *subscriptions) list() [][]byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([][]byte, 0, len(s.prefixes))
	for p := range s.prefixes {
		all = append(all, []byte(p))
	}
	return all
}

// On the wire of ZMTP 3.0 a subscription is a message of one part: a byte, then the prefix.
const (
	wireUnsubscribe = 0
	wireSubscribe   = 1
)

func subscription(prefix []byte) Message {
	return Message{append([]byte{wireSubscribe}, prefix...)}
}

// apply takes a message of a subscriber. Others than subscriptions are an XSUB's user messages, and ignored.
func (s *subscriptions) apply(m Message) error {
	if len(m) != 1 || len(m[0]) == 0 {
		return nil
	}
	switch m[0][0] {
	case wireSubscribe:
		return s.add(m[0][1:])
	case wireUnsubscribe:
		s.remove(m[0][1:])
	}
	return nil
}
