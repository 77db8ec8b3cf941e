package topology

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errNotPerHost is wrapped by the renderers for several machines if a host of the topology is not a machine of its own.
var errNotPerHost = errors.New("it cannot be rendered host by host")

// File is a part of a rendering: its content and its place.
type File struct {
	Name    string // below the rendering's directory, with slashes
	Text    string
	Private bool // it has a secret, so only its user may read it
}

// machines returns the hosts that have nodes or medics, and refuses addresses that a machine cannot have.
func (t *Topology) machines() (used []Host, err error) {
	for _, h := range t.Hosts {
		switch {
		case h.Local:
			return nil, fmt.Errorf("%w: host %q has no address, which makes it the machine that reads the file; write address = \"10.0.0.1\", "+
				"the machine's own, or use `posta up`", errNotPerHost, h.Name)
		case h.IPC():
			return nil, fmt.Errorf(
				"%w: host %q has unix sockets, which do not leave a machine; write address = \"10.0.0.1\", the machine's own, or use `posta up`",
				errNotPerHost, h.Name)
		case strings.Contains(h.Address+h.Bind, nodeMark):
			return nil, fmt.Errorf(
				"%w: the address %s of host %q is for a network of containers; write that of the machine, like address = \"10.0.0.1\"", errNotPerHost,
				h.Address, h.Name)
		}
		if slices.ContainsFunc(t.All(), on(h)) {
			used = append(used, h)
		}
	}
	return used, nil
}

func on(h Host) func(Node) bool { return func(n Node) bool { return n.Host == h.Name } }

// nodesAt and medicsAt return the nodes and the medics on a host.
func (t *Topology) nodesAt(h Host) []Node  { return filter(t.Nodes(), on(h)) }
func (t *Topology) medicsAt(h Host) []Node { return filter(t.MedicNodes(), on(h)) }

func filter(nodes []Node, keep func(Node) bool) []Node {
	return slices.DeleteFunc(nodes, func(n Node) bool { return !keep(n) })
}
