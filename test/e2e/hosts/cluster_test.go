//go:build docker && linux

package hosts

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/hosts/rack"
	"posta.dev/posta/topology"
)

// page is a topology over hosts a and b, with stages on both sides of the link. Frames cross it between any two stages.
const page = `
[cluster]
name = "%s"
%s
[[stage]]
name = "input"
chain = ["input", "parser"]
hosts = ["a"]
[[stage]]
name = "joiner"
%s
[[stage]]
name = "aggregator"
replicas = 2
hosts = ["a", "b"]
[[stage]]
name = "reducer"
hosts = ["b"]
[[stage]]
name = "output"
replicas = 2
hosts = ["a", "b"]` + clustertest.Edges

// Joiners of a page.
const (
	one    = "hosts = [\"a\"]"
	onBoth = "replicas = 2\nhosts = [\"a\", \"b\"]"
	onB    = "replicas = 2\nhosts = [\"b\"]" // so that all facts cross the link
	three  = "replicas = 3\nhosts = [\"a\", \"b\"]"
	onAll  = "replicas = 3"
)

// cluster is one over the hosts of a rack.
type cluster struct {
	t       *testing.T
	rack    *rack.Rack
	name    string
	dir     string
	topo    *topology.Topology
	keyed   bool   // it has keys
	clients string // lines of [clients]
}

// newCluster writes its topology; nothing runs yet.
func newCluster(t *testing.T, r *rack.Rack, joiners string) *cluster {
	t.Helper()
	c := &cluster{t: t, rack: r, name: "e2e", dir: t.TempDir()}
	c.write(2, joiners)
	return c
}

// write writes the topology, or changes it: so many of the hosts, and joiners.
func (c *cluster) write(n int, joiners string) {
	c.t.Helper()
	file := filepath.Join(c.dir, "topology.toml")
	var hosts strings.Builder
	if !c.keyed {
		hosts.WriteString("[security]\ninsecure = true\n") // whoever reaches the hosts is a part of the tests
	}
	if c.keyed {
		hosts.WriteString("[clients]\n" + c.clients)
	}
	for _, h := range c.rack.Hosts[:n] {
		fmt.Fprintf(&hosts, "[hosts.%s]\naddress = %q\nengine = %q\n", h.Name, h.Address, h.Engine())
	}
	must(c.t, clustertest.ReplaceFile(file, []byte(fmt.Sprintf(page, c.name, hosts.String(), joiners))))
	var err error
	c.topo, err = topology.Load(file)
	must(c.t, err)
}

// render is `posta deploy --render`, and returns a host's directory.
func (c *cluster) render(kind string, h *rack.Host) string {
	c.t.Helper()
	dir := filepath.Join(c.dir, kind)
	c.posta("deploy", "-f", c.topo.File, "--render", kind, dir)
	return filepath.Join(dir, h.Name)
}

func (c *cluster) posta(args ...string) string {
	c.t.Helper()
	out, err := clustertest.Command(append([]string{posta}, args...)...)
	must(c.t, err)
	return out
}

// on returns the nodes and medics of a host.
func (c *cluster) on(h *rack.Host) (ids []topology.NodeID) {
	for _, n := range c.topo.All() {
		if n.Host == h.Name {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

func (c *cluster) hostOf(id topology.NodeID) *rack.Host {
	i := slices.IndexFunc(c.topo.All(), func(n topology.Node) bool { return n.ID == id })
	name := c.topo.All()[i].Host
	return c.rack.Hosts[slices.IndexFunc(c.rack.Hosts, func(h *rack.Host) bool { return h.Name == name })]
}

func (c *cluster) lives(w *clustertest.Cluster) map[topology.NodeID]uint64 {
	all := map[topology.NodeID]uint64{}
	for _, n := range c.topo.All() {
		all[n.ID] = w.Incarnation(n.ID)
	}
	return all
}

// loseHost kills a machine and starts it again. Nobody else may be restarted for it.
func (c *cluster) loseHost(w *clustertest.Cluster, h *rack.Host) {
	c.t.Helper()
	before := c.lives(w)
	must(c.t, h.Kill())
	time.Sleep(2 * c.topo.Medics.SuspectAfter)
	must(c.t, h.Start())
	w.Until("all of host "+h.Name+" are back", func() bool {
		return !slices.ContainsFunc(c.on(h), func(id topology.NodeID) bool { return w.Incarnation(id) == before[id] }) && w.Leader() != ""
	})
	for _, n := range c.topo.All() {
		if now := w.Incarnation(n.ID); n.Host != h.Name && now != before[n.ID] {
			c.t.Errorf("host %s was lost, and %s was incarnation %d and is %d", h.Name, n.ID, before[n.ID], now)
		}
	}
}
