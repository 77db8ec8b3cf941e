package zmqx

import (
	"context"

	"github.com/go-zeromq/zmq4"
)

// Pull receives from any number of PUSH peers.
type Pull struct {
	*socket
	inbox *inbox
}

// NewPull makes a PULL socket; Listen gives it peers.
func NewPull(o Options) (*Pull, error) {
	p := &Pull{inbox: newInbox()}
	s, err := newSocket(zmq4.Pull, o, p)
	if err != nil {
		return nil, err
	}
	p.socket = s
	return p, nil
}

// Listen opens an endpoint and returns its actual address (port 0 is replaced).
func (p *Pull) Listen(endpoint string) (string, error) { return p.listen(endpoint) }

// Recv returns the next batch: at least one message, all of one peer and in its order.
func (p *Pull) Recv(ctx context.Context) ([]Received, error) { return p.inbox.recv(ctx) }

// C gives the same batches as Recv, for a select. It is closed by Close.
func (p *Pull) C() <-chan []Received { return p.inbox.batches }

// Pause stops reading from all peers, or goes on. Up to inboxDepth batches lie in C already; besides, each reader may
// read one more and then holds it, and TCP holds back the sender. While it is paused, the end of a connection goes
// unnoticed: what it still holds is received afterwards, and only then comes its Disconnected event.
func (p *Pull) Pause(paused bool) { p.inbox.gate.set(paused) }

// PausePeer is Pause for one peer.
func (p *Pull) PausePeer(id PeerID, paused bool) error {
	peer, err := p.peer(id)
	if err == nil {
		peer.gate.set(paused)
	}
	return err
}

// Recycle gives the memory of a batch back for messages to come, as it was received and when nobody uses any part of it
// any more. It is never necessary, but makes large messages half as fast again over tcp and two to four times over ipc.
func (p *Pull) Recycle(batch []Received) { p.inbox.memory.put(batch) }

// Close closes all connections and awaits all goroutines. Received batches stay in C.
func (p *Pull) Close() error {
	err := p.close(nil)
	p.inbox.close()
	return err
}

func (p *Pull) join(*peer)        {}
func (p *Pull) leave(*peer)       {}
func (p *Pull) outfit(from *peer) { from.queue, from.in.memory = newSendQueue(p.opt), &p.inbox.memory }

func (p *Pull) deliver(from *peer, batch []Received) error { return p.inbox.deliver(from, batch) }
