package zmqx

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-zeromq/zmq4"
)

// Sub receives from many PUB peers what its prefixes match.
type Sub struct {
	*socket
	inbox  *inbox
	topics *subscriptions

	mu sync.Mutex // a change of topics and telling it to the peers are one step, or a new peer could miss it
}

// NewSub makes a SUB socket; Connect gives it publishers, Subscribe messages.
func NewSub(o Options) (*Sub, error) {
	p := &Sub{inbox: newInbox()}
	s, err := newSocket(zmq4.Sub, o, p)
	if err != nil {
		return nil, err
	}
	p.socket, p.topics = s, newSubscriptions(s.opt.MaxSubscriptions, s.opt.MaxTopic)
	return p, nil
}

// Connect starts keeping a connection to a publisher, one more with each call. It returns the number that its messages
// and events carry as Endpoint.
func (s *Sub) Connect(endpoint string) (int, error) { return s.connect(endpoint) }

// Subscribe asks all publishers, now and after each reconnect, for messages whose first part begins with prefix.
func (s *Sub) Subscribe(prefix string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.topics.add([]byte(prefix)); err != nil {
		return err
	}
	return s.tellAll(subscription(wireSubscribe, []byte(prefix)))
}

// Unsubscribe takes it back. Batches that lie ready already are still received.
func (s *Sub) Unsubscribe(prefix string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.topics.remove([]byte(prefix))
	return s.tellAll(subscription(wireUnsubscribe, []byte(prefix)))
}

// tellAll: a publisher that does not even take subscriptions is dropped; it hears all of them when it is back.
func (s *Sub) tellAll(m Message) error {
	if s.isClosing() {
		return ErrClosed
	}
	for _, p := range s.allPeers() {
		if err := p.queue.tryPut([]Message{m}); err != nil {
			p.fail(fmt.Errorf("%w: %w", ErrOverflow, err))
		}
	}
	return nil
}

// Recv returns the next batch: at least one message, all of one publisher and in its order.
func (s *Sub) Recv(ctx context.Context) ([]Received, error) { return s.inbox.recv(ctx) }

// C gives the same batches as Recv, for a select. It is closed by Close.
func (s *Sub) C() <-chan []Received { return s.inbox.batches }

// Recycle gives the memory of a batch back for messages to come, as it was received and when nobody uses any part of it
// any more. It is never necessary, but makes large messages half as fast again over tcp and two to four times over ipc.
func (s *Sub) Recycle(batch []Received) { s.inbox.memory.put(batch) }

// Close closes all connections and awaits all goroutines. Received batches stay in C.
func (s *Sub) Close() error {
	err := s.close(nil)
	s.inbox.close()
	return err
}

func (s *Sub) outfit(p *peer) { p.queue, p.in.memory = newSendQueue(s.opt), &s.inbox.memory }
func (s *Sub) leave(*peer)    {}

// join tells a new publisher all subscriptions. A Subscribe at the same time may tell it twice: that is idempotent.
func (s *Sub) join(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Message
	for _, prefix := range s.topics.list() {
		all = append(all, subscription(wireSubscribe, prefix))
	}
	p.queue.putFirst(all)
}

// deliver passes on what matches: a publisher may not have heard of an Unsubscribe yet, or not filter at all.
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
