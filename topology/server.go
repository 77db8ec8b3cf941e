package topology

import (
	"path/filepath"
	"slices"
)

// ServerID is the embedded NATS server's name among processes. No node has it: their names end in a number.
const ServerID NodeID = "nats"

// Server is the embedded NATS server as a process on one of the hosts: like a medic it has a control socket, whose port comes after those of
// the medics there, a data directory, and no role. False when there is none, and when its url names none of the hosts that have nodes:
// then somebody else says where it runs, and `posta nats` has to be started there by hand.
func (t *Topology) Server() (Node, bool) {
	h, ok := t.serverHost()
	if !ok {
		return Node{}, false
	}
	given := 0
	for _, n := range t.All() {
		if n.Host == h.Name {
			given += len(n.Sockets.List())
		}
	}
	n := Node{ID: ServerID, Stage: string(ServerID), Index: 1, Of: 1, Host: h.Name}
	n.DataDir = filepath.Join(t.ServerDir(), "lives") // beside its streams, and lost with them
	n.Sockets.Control = h.endpoint(n.ID, KindControl, given)
	return n, true
}

// ServerDir is where the embedded server has its data.
func (t *Topology) ServerDir() string {
	if filepath.IsAbs(t.NATS.Data) {
		return t.NATS.Data
	}
	return filepath.Join(t.DataDir, t.NATS.Data)
}

// serverHost is the host that the url names, or the first one when it names the machine that all of them are.
func (t *Topology) serverHost() (Host, bool) {
	if t.Transport != ViaNATS || !t.NATS.Embedded {
		return Host{}, false
	}
	here := t.brokerHere()
	i := slices.IndexFunc(t.Hosts, func(h Host) bool {
		return (here || h.Address == t.brokerHost()) && slices.ContainsFunc(t.Stages, func(s Stage) bool { return slices.Contains(s.Hosts, h.Name) })
	})
	if i < 0 {
		return Host{}, false
	}
	return t.Hosts[i], true
}
