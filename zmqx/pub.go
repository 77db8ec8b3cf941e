package zmqx

import "github.com/go-zeromq/zmq4"

// Pub sends each message to every subscriber whose prefixes match its first part. It never waits: a subscriber whose
// queue is full misses the message, and only that one does.
type Pub struct {
	*socket
}

// NewPub makes a PUB socket; Listen gives it subscribers.
func NewPub(o Options) (*Pub, error) {
	p := new(Pub)
	return newSocket(p, &p.socket, zmq4.Pub, o)
}

// Listen opens an endpoint and returns its actual address (port 0 is replaced).
func (p *Pub) Listen(endpoint string) (string, error) { return p.listen(endpoint) }

// Send publishes msgs.
func (p *Pub) Send(msgs ...Message) error {
	if err := p.opt.limits().sendable(msgs); err != nil {
		return err
	}
	return p.each(func(sub *peer) {
		for i, m := range msgs {
			if sub.topics.match(m[0]) {
				_ = sub.queue.tryPut(msgs[i : i+1]) // errFull: the subscriber misses it
			}
		}
	})
}

// SendBy publishes a message of a topic and a body that depends on who gets it: body is given the name that the subscriber has proven, ""
// on a plain socket. A subscriber whose body is too large misses the message.
func (p *Pub) SendBy(topic []byte, body func(name string) []byte) error {
	return p.each(func(sub *peer) {
		if !sub.topics.match(topic) {
			return
		}
		if msgs := []Message{{topic, body(sub.proof.from)}}; p.opt.limits().sendable(msgs) == nil {
			_ = sub.queue.tryPut(msgs) // as in Send
		}
	})
}

func (p *Pub) each(do func(sub *peer)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return errClosed
	}
	for _, sub := range p.peers {
		do(sub)
	}
	return nil
}

// Close waits at most Linger for the queues to be written, closes all connections and awaits all goroutines.
func (p *Pub) Close() error { return p.close(p.drainPeers, nil) }

func (p *Pub) setUp(sub *peer) {
	sub.topics = newSubscriptions(p.opt.MaxSubscriptions, p.opt.MaxTopic)
	sub.in.lim = p.opt.commandLimits()
}

func (p *Pub) deliver(from *peer, batch []Received) error {
	for _, r := range batch {
		if err := from.topics.apply(r.Msg); err != nil {
			return err
		}
		if p.opt.Subscribed != nil && len(r.Msg) == 1 && len(r.Msg[0]) > 0 && r.Msg[0][0] == wireSubscribe {
			p.opt.Subscribed(string(r.Msg[0][1:]))
		}
	}
	return nil
}
