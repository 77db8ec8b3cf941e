package zmqx

import (
	"fmt"
	"sync"

	"github.com/go-zeromq/zmq4"
)

// Sub receives from many PUB peers what its prefixes match.
type Sub struct {
	*socket
	*inbox
	topics *subscriptions

	// mu makes a change of topics and telling it to the peers one step, or a new peer could miss it.
	mu sync.Mutex
}

// NewSub makes a SUB socket; Connect adds publishers, and Subscribe asks for messages.
func NewSub(o Options) (*Sub, error) {
	s := &Sub{inbox: newInbox()}
	s, err := newSocket(s, &s.socket, zmq4.Sub, o)
	if err == nil {
		s.topics = newSubscriptions(s.opt.MaxSubscriptions, s.opt.MaxTopic)
	}
	return s, err
}

// Connect starts keeping a connection to a publisher, one more with each call. It returns the number that its messages
// and events carry as Endpoint.
func (s *Sub) Connect(endpoint string) (int, error) { return s.connect(endpoint, "") }

// ConnectTo is Connect to the process of that name, and to no other that answers there (Options.TLS). A plain socket does not look at the
// name.
func (s *Sub) ConnectTo(endpoint, name string) (int, error) { return s.connect(endpoint, name) }

// Subscribe asks all publishers, now and after each reconnect, for messages whose first part begins with prefix.
func (s *Sub) Subscribe(prefix string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subscribeLocked(prefix)
}

func (s *Sub) subscribeLocked(prefix string) error {
	if s.ctx.Err() != nil {
		return errClosed
	}
	if err := s.topics.add([]byte(prefix)); err != nil {
		return err
	}
	s.tellLocked(subscription([]byte(prefix)))
	return nil
}

// Unsubscribe ends what Subscribe began with the same prefix.
func (s *Sub) Unsubscribe(prefix string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return errClosed
	}
	s.topics.remove([]byte(prefix))
	s.tellLocked(Message{append([]byte{wireUnsubscribe}, prefix...)})
	return nil
}

// tellLocked leaves out a publisher that is just being admitted: join will tell it.
func (s *Sub) tellLocked(m Message) {
	for _, p := range s.allPeers() {
		if !p.told {
			continue
		}
		// A publisher that does not even read subscriptions is dropped; it gets all of them when it is connected again.
		if err := p.queue.tryPut([]Message{m}); err != nil {
			p.fail(fmt.Errorf("%w: %w", errOverflow, err))
		}
	}
}

// Close closes all connections and awaits all goroutines.
func (s *Sub) Close() error { return s.close(nil, s.end) }

// join tells a new publisher all subscriptions, each once: for a node, each is a question of its own (N8).
func (s *Sub) join(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Message
	for _, prefix := range s.topics.list() {
		all = append(all, subscription(prefix))
	}
	p.queue.putFirst(all)
	p.told = true
}

// deliver passes on what matches, because a publisher need not filter.
func (s *Sub) deliver(from *peer, batch []Received) error {
	kept := batch[:0]
	for _, r := range batch {
		if s.topics.match(r.Msg[0]) {
			kept = append(kept, r)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return s.inbox.deliver(from, kept)
}
