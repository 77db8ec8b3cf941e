package core

import (
	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/histogram"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/internal/watch"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/rows/scratch"
	"posta.dev/posta/topology"
)

// Config is what a core is made of. Most of it comes from the topology and the data directory.
type Config struct {
	Self    link.NodeID
	ID      link.Identity
	Replica analyses.Replica
	In      []InEdge
	Out     []OutEdge
	Roles   []role.Role // the chain, in pipeline order
	Joiner  bool        // the chain holds facts back until the reference streams have ended (R11)
	Known   analyses.Set
	Wiring  string // of the topology; a session that began under another wiring cannot continue here (R12)
	Window  int    // bytes in flight on each link (R9)
	Commit  int    // bytes of input taken into one commit
	Frame   int    // bytes that the payload of a frame may have (R15); 0: no bound
	Record  int    // bytes that a record of the log may have; 0: no bound
	Memory  int    // bytes of reference data of a session in a joiner (R16); 0: no bound
	Held    int    // bytes that all sessions hold in this node (role.Holder): limits.node_memory; 0: no bound
	Share   int    // percent of Held that one owner has for sure: limits.client_share; 0: all of it
	Tables  int    // bytes of memory that the tables of all sessions take before they move to files (role.Spiller); 0: no bound
	Pace    link.Pace

	// RoundTrip counts how long frames take until every receiver has acknowledged them; each outbox times one frame at a time. Nil: nothing
	// is counted.
	RoundTrip *histogram.Histogram

	// Watch notes what the roles work on, so that a node that hangs can be examined from outside (N9). Nil: nothing is noted.
	Watch *watch.Watch

	// Trace records where the time of sessions goes. Nil: nothing is recorded.
	Trace *trace.Recorder

	Files   role.SavedReader // what roles have saved (role.Filer); nil: they save nothing
	Scratch scratch.Disk     // where roles keep rows of a computation for which there is no memory; nil: such computations fail
}

// InEdge is an edge that leads here.
type InEdge struct {
	Name    string
	From    []link.NodeID
	Streams topology.Streams
	Dialled bool // this node makes the connection (SUB)
	Inputs  bool // the senders are inputs: they get their data from clients alone, and from no node
	All     bool // each sender has one outbox for all receivers (R10)
}

// link names the link from a sender to this node.
func (e *InEdge) link(from, self link.NodeID) link.Link {
	if e.All {
		self = ""
	}
	return link.Link{Edge: e.Name, From: from, To: self}
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
