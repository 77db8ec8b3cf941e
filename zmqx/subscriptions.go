package zmqx

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
)

// subscriptions are the prefixes of one subscriber.
type subscriptions struct {
	max, maxTopic int

	mu       sync.RWMutex // guards prefixes
	prefixes [][]byte     // distinct, at most max of at most maxTopic bytes
}

func newSubscriptions(max, maxTopic int) *subscriptions {
	return &subscriptions{max: max, maxTopic: maxTopic}
}

// add is idempotent, as libzmq's is for one peer.
func (s *subscriptions) add(prefix []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indexLocked(prefix) >= 0 {
		return nil
	}
	if len(prefix) > s.maxTopic {
		return fmt.Errorf("%w: subscription of %d bytes, at most %d (MaxTopic)", errTooLarge, len(prefix), s.maxTopic)
	}
	if len(s.prefixes) >= s.max {
		return fmt.Errorf("%w: more than %d subscriptions (MaxSubscriptions)", errTooLarge, s.max)
	}
	s.prefixes = append(s.prefixes, bytes.Clone(prefix))
	return nil
}

func (s *subscriptions) remove(prefix []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.indexLocked(prefix); i >= 0 {
		s.prefixes = slices.Delete(s.prefixes, i, i+1)
	}
}

func (s *subscriptions) indexLocked(prefix []byte) int {
	return slices.IndexFunc(s.prefixes, func(p []byte) bool { return bytes.Equal(p, prefix) })
}

// match compares with one prefix after the other. Subscribers have few; MaxSubscriptions of them cost a few microseconds.
func (s *subscriptions) match(topic []byte) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(s.prefixes, func(p []byte) bool { return bytes.HasPrefix(topic, p) })
}

func (s *subscriptions) list() [][]byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.prefixes)
}

// On the wire of ZMTP 3.0 a subscription is a message of one part: a byte, then the prefix.
const (
	wireUnsubscribe = 0
	wireSubscribe   = 1
)

func subscription(prefix []byte) Message {
	return Message{append([]byte{wireSubscribe}, prefix...)}
}

// Subscribes reports whether a message that a PUB got, as Options.Known sees it, asks for the messages of a prefix.
func Subscribes(m Message, prefix string) bool {
	return len(m) == 1 && len(m[0]) > 0 && m[0][0] == wireSubscribe && string(m[0][1:]) == prefix
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
