package zmqx

import "github.com/go-zeromq/zmq4"

// Pull receives from any number of PUSH peers.
type Pull struct {
	*socket
	*inbox
}

// NewPull makes a PULL socket; Listen gives it peers.
func NewPull(o Options) (*Pull, error) {
	p := &Pull{inbox: newInbox()}
	return newSocket(p, &p.socket, zmq4.Pull, o)
}

// Listen opens an endpoint and returns its actual address (port 0 is replaced).
func (p *Pull) Listen(endpoint string) (string, error) { return p.listen(endpoint) }

// Close closes all connections and awaits all goroutines.
func (p *Pull) Close() error { return p.close(nil, p.end) }
