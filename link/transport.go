package link

import (
	"log/slog"
	"time"

	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// TransportConfig is the configuration of a transport.
type TransportConfig struct {
	Topology *topology.Topology
	Node     topology.Node
	Listen   bool // subscribe to the heartbeats of all nodes
	Log      *slog.Logger
	Keys     *security.Keys // of the node: its sockets speak mutual TLS (S3); nil: plain ZMTP

	// OnLines is called when somebody asks for the last lines of the node's log, from several goroutines. It must not block. The answer goes
	// to LinesTeller.Lines. It may be nil.
	OnLines func()
}

// BrokerAddress returns the address to which a transport over a broker connects next: the one that came with the keys, else that of the
// topology.
func (c *TransportConfig) BrokerAddress() string {
	if address := c.Keys.Broker(); address != "" {
		return address
	}
	return c.Topology.BrokerAddress()
}

// Transport carries frames, acknowledgements and heartbeats between nodes. It may lose, delay and repeat them, but it keeps the order of
// what it delivers on one link. The link does the rest. The packages are named for how they carry frames: zmq is the product's transport;
// those over brokers, and the simulated network of the tests, have the same interface.
//
// One goroutine calls the methods; another one may read Events. Close ends every goroutine of the transport before it returns.
type Transport interface {
	// Send sends frames of one edge to a node, or to all receivers of the edge if to is empty, without blocking. It returns how many frames,
	// from the front, it accepted. An accepted frame may still be lost.
	Send(edge string, to NodeID, frames []Frame) int
	// Acks tells senders what is durable here.
	Acks(acks []Ack)
	// Heartbeat publishes this node's heartbeat. Nodes get payload, and all others get public.
	Heartbeat(payload, public []byte)
	// Events delivers what has arrived. The channel is closed by Close.
	Events() <-chan Event
	// Close sends what is queued, for a short time, and stops.
	Close() error
}

// Recycler is a transport that reuses the memory of frames that it has delivered.
type Recycler interface {
	// Recycle takes back payloads that are no longer used: each whole, and only once.
	Recycle(payloads [][]byte)
}

// Troubled is a transport that can tell what is wrong with it, such as one over a broker.
type Troubled interface {
	// Trouble says in one line, for people, what is wrong now, where, and what to do about it; "" when all is well. Any goroutine may call it.
	Trouble() string
}

// Tracer is a transport that can publish where the time of a session went.
type Tracer interface {
	// Trace publishes this node's report about a session to those that have asked for it.
	Trace(id session.ID, report []byte)
}

// LinesTeller is a transport that can publish the last lines of the node's log.
type LinesTeller interface {
	// Lines publishes them to those that have asked for them.
	Lines(report []byte)
}

// Event is something that a transport reports. Exactly one group of fields is set.
type Event struct {
	Frames []Frame // arrived, in order for each link; payloads belong to the receiver
	Acks   []Ack

	At time.Time // when the frames arrived; the event may have waited for the node's loop since. Zero: unknown

	// Asked: somebody wants to know where the time of a session went. The answer goes to Tracer.Trace.
	Asked *session.ID

	// A connection is up. On an edge where this node is the sender, Node is the receiver. Where this node connects as
	// a receiver (SUB), Incoming is true and Node is the sender.
	Connected bool
	Incoming  bool
	Edge      string
	Node      NodeID

	// Answers: the connection for Node's acknowledgements is up. Earlier acknowledgements of Node may be lost.
	Answers bool

	Heartbeat []byte // sent by Node
}
