package core

import (
	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/topology"
)

// Config is what a core is made of. All of it comes from the topology and the data directory.
type Config struct {
	Self    link.NodeID
	ID      link.Identity
	Replica analyses.Replica
	In      []InEdge
	Out     []OutEdge
	Roles   []role.Role // the chain, in pipeline order
	Joiner  bool        // the chain holds facts back until the reference streams have ended (R11)
	Known   analyses.Set
	Wiring  string // of the topology: sessions of another one cannot go on here
	Window  int    // bytes in flight on each link (R9)
	Commit  int    // bytes of input taken into one commit
	Frame   int    // bytes that the payload of a frame may have (R15); 0: no bound
	Record  int    // bytes that a record of the log may have; 0: no bound
	Memory  int    // bytes of reference data of a session in a joiner (R16); 0: no bound
	Pace    link.Pace
}

// InEdge is an edge that leads here.
type InEdge struct {
	Name    string
	From    []link.NodeID
	Streams topology.Streams
	Dialled bool // this node makes the connection (SUB)
	Inputs  bool // the senders hold inputs: only clients are before them
}

// OutEdge is an edge that leaves here.
type OutEdge struct {
	Name      string
	To        []link.NodeID
	Streams   topology.Streams
	Route     topology.Route
	Key       topology.Key // of route hash
	Broadcast bool         // one message reaches every receiver (PUB)
}

func carries(s topology.Streams, reference bool) bool {
	switch s {
	case topology.Facts:
		return !reference
	case topology.Reference:
		return reference
	}
	return true
}
