package link

import (
	"log/slog"

	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// TransportConfig is what a transport is made of.
type TransportConfig struct {
	Topology *topology.Topology
	Node     topology.Node
	Listen   bool // to the heartbeats of all nodes
	Log      *slog.Logger
	Accepts  *zmqx.AcceptLimit // of the node's process; nil: none
	Keys     *security.Keys    // of the node: its sockets speak mutual TLS (S3); nil: plain ZMTP
}

// Transport carries frames, acknowledgements and heartbeats between nodes. It may lose, delay and repeat them, and it
// keeps the order of what it delivers on one link: everything else is the link's business. Siblings are named for how
// they do it: zmq is the product; brokers, and the simulated network of the tests, have the same shape.
//
// One goroutine calls the methods; Events may be read by another. Close ends every goroutine of the transport before it
// returns.
type Transport interface {
	// Send puts frames of one edge on the way to a node, or to all receivers of the edge if to is empty, without blocking.
	// It returns how many it accepted, from the front. Accepting is no promise.
	Send(edge string, to NodeID, frames []Frame) int
	// Acks tells senders what is durable here.
	Acks(acks []Ack)
	// Heartbeat publishes what this node says of itself.
	Heartbeat(payload []byte)
	// Events delivers what has arrived. The channel is closed by Close.
	Events() <-chan Event
	// Close lets what is queued leave, for a moment, and stops.
	Close() error
}

// Recycler is a transport that uses the memory of what it has delivered again.
type Recycler interface {
	// Recycle takes payloads back, each whole and once, of which nobody uses any part any more.
	Recycle(payloads [][]byte)
}

// Troubled is a transport that can tell what is wrong with it, as those over a broker can.
type Troubled interface {
	// Trouble is what is wrong now, where, and what to do about it, in a line for people; "" when all is well. Any goroutine may call it.
	Trouble() string
}

// Event is something that a transport has to say. Exactly one group of fields is set.
type Event struct {
	Frames []Frame // arrived, in order for each link; payloads belong to the receiver
	Acks   []Ack

	// A connection stands. For an edge where this node is the sender: with Node as the receiver. Where this node dials as a
	// receiver (SUB), Incoming is true and Node is the sender.
	Connected bool
	Incoming  bool
	Edge      string
	Node      NodeID

	Heartbeat []byte // sent by Node
}
