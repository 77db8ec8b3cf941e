package topology

import (
	"fmt"
	"path/filepath"
	"slices"
)

// MedicNodes places the medics: round robin over the hosts that stages name, in file order. A medic has a control socket and a data
// directory like a node, but no role. Medics' ports come after those of all nodes, so a change of the number of medics moves no node.
func (t *Topology) MedicNodes() []Node {
	used := map[string]int{}
	for _, n := range t.Nodes() {
		used[n.Host] += len(n.Sockets.List())
	}
	var hosts []Host
	for _, h := range t.Hosts {
		if t.uses(h) {
			hosts = append(hosts, h)
		}
	}
	if len(hosts) == 0 {
		return nil // only in a file that is refused
	}
	var medics []Node
	for i := range t.Medics.Replicas {
		h := hosts[i%len(hosts)]
		n := Node{ID: NodeID(fmt.Sprintf("%s-%d", medicName, i+1)), Stage: medicName, Index: i + 1, Of: t.Medics.Replicas, Host: h.Name}
		n.DataDir = filepath.Join(t.DataDir, string(n.ID))
		n.Sockets.Control = h.endpoint(n.ID, KindControl, used[h.Name])
		used[h.Name]++
		medics = append(medics, n)
	}
	return medics
}

// Medic returns the medic of that name; the error wraps ErrNoNode and lists the existing names.
func (t *Topology) Medic(id NodeID) (Node, error) {
	medics := t.MedicNodes()
	if i := slices.IndexFunc(medics, func(n Node) bool { return n.ID == id }); i >= 0 {
		return medics[i], nil
	}
	if len(medics) == 0 {
		return Node{}, fmt.Errorf("medic %q in %s: %w; it has medics.replicas = 0", id, t.File, ErrNoNode)
	}
	return Node{}, fmt.Errorf("medic %q in %s: %w; %s", id, t.File, ErrNoNode, suggest(string(id), names(medics)))
}

// All returns the nodes, then the medics.
func (t *Topology) All() []Node { return append(t.Nodes(), t.MedicNodes()...) }
