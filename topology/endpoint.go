package topology

import (
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Kind is the purpose of a node's listening socket.
type Kind string

// Kinds, in the order in which a node's ports are given out.
const (
	KindData      Kind = "data"      // PULL: frames of push edges
	KindControl   Kind = "control"   // PUB: acknowledgements and heartbeats
	KindBroadcast Kind = "broadcast" // PUB: frames of pub edges
	KindClient    Kind = "client"    // ROUTER: clients
)

// Endpoint is an address in ZeroMQ's form, "tcp://127.0.0.1:5500" or "ipc:///run/posta/joiner-1.data".
type Endpoint struct {
	Dial string `json:"dial"` // the address that others connect to
	Bind string `json:"bind"` // the address that the node listens on
}

// Exists reports whether the node has the socket.
func (e Endpoint) Exists() bool { return e != Endpoint{} }

// Unix reports whether the node listens on a unix socket.
func (e Endpoint) Unix() bool { return strings.HasPrefix(e.Bind, "ipc://") }

// Sockets are the sockets that a node listens on. A socket that the node does not need is the zero Endpoint and takes no port.
type Sockets struct {
	Data      Endpoint // if a push edge leads to the stage, and frames travel by ZeroMQ
	Control   Endpoint // always
	Broadcast Endpoint // if a pub edge leaves the stage, and frames travel by ZeroMQ
	Client    Endpoint // if the chain holds input or output
}

// NamedEndpoint is one socket of a node.
type NamedEndpoint struct {
	Kind Kind
	Endpoint
}

// List returns the sockets that exist, in port order.
func (s Sockets) List() []NamedEndpoint {
	all := []NamedEndpoint{
		{KindData, s.Data}, {KindControl, s.Control}, {KindBroadcast, s.Broadcast}, {KindClient, s.Client},
	}
	return slices.DeleteFunc(all, func(e NamedEndpoint) bool { return !e.Exists() })
}

// openSockets gives a node its addresses, from the given port of the host on, and returns how many ports it took.
func (t *Topology) openSockets(n *Node, s Stage, given int) int {
	i := t.hostIndex(*n)
	if i < 0 {
		return 0 // only in a file that is refused
	}
	taken := 0
	open := func(needed bool, k Kind) (e Endpoint) {
		if needed {
			e = t.Hosts[i].endpoint(n.ID, k, given+taken)
			taken++
		}
		return e
	}
	direct := t.Transport == ZMQ // over a broker, frames need no socket of the node
	usesPush := func(e Edge) bool { return direct && e.Socket == Push }
	usesPub := func(e Edge) bool { return direct && e.Socket == Pub }
	n.Sockets = Sockets{
		Data:      open(slices.ContainsFunc(t.EdgesTo(s.Name), usesPush), KindData),
		Control:   open(true, KindControl),
		Broadcast: open(slices.ContainsFunc(t.EdgesFrom(s.Name), usesPub), KindBroadcast),
		Client:    open(s.holds(Input) || s.holds(Output), KindClient),
	}
	return taken
}

func (h Host) endpoint(id NodeID, k Kind, offset int) Endpoint {
	if h.IPC() {
		file := string(id) + "." + string(k)
		return Endpoint{
			Dial: "ipc://" + path.Join(strings.TrimPrefix(h.Address, ipcPrefix), file),
			Bind: "ipc://" + path.Join(strings.TrimPrefix(h.Bind, ipcPrefix), file),
		}
	}
	e := Endpoint{
		Dial: "tcp://" + net.JoinHostPort(h.address(id), strconv.Itoa(h.Ports+offset)),
		Bind: "tcp://" + net.JoinHostPort(strings.ReplaceAll(h.Bind, nodeMark, string(id)), strconv.Itoa(h.BindPorts+offset)),
	}
	if h.Internal != "" && k != KindClient {
		// No port is published in between, so others dial the port that the node listens on.
		e.Dial = "tcp://" + net.JoinHostPort(h.internal(id), strconv.Itoa(h.BindPorts+offset))
	}
	return e
}
