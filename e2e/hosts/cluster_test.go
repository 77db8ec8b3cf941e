//go:build docker && linux

package hosts

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"posta/e2e/hosts/rack"
	"posta/topology"
)

// page is a topology over hosts a and b, with stages on both sides of the link. Frames cross it between any two stages.
const page = `
[cluster]
name = "e2e"
[hosts.a]
address = "%s"
[hosts.b]
address = "%s"
[[stage]]
name = "input"
chain = ["input", "parser"]
hosts = ["a"]
[[stage]]
name = "joiner"
replicas = %d
[[stage]]
name = "aggregator"
replicas = 2
[[stage]]
name = "reducer"
hosts = ["b"]
[[stage]]
name = "output"
replicas = 2
[[edge]]
from = "input"
to = "joiner"
streams = "facts"
route = "any"
[[edge]]
from = "input"
to = "joiner"
streams = "reference"
socket = "pub"
route = "all"
[[edge]]
from = "joiner"
to = "aggregator"
route = "hash"
key = "group"
[[edge]]
from = "aggregator"
to = "reducer"
route = "hash"
key = "session"
[[edge]]
from = "reducer"
to = "output"
route = "all"
%s
`

// cluster is one over the hosts of a rack.
type cluster struct {
	t    *testing.T
	rack *rack.Rack
	dir  string
	topo *topology.Topology
}

// newCluster writes its topology; nothing runs yet.
func newCluster(t *testing.T, r *rack.Rack, joiners int, settings string) *cluster {
	t.Helper()
	c := &cluster{t: t, rack: r, dir: t.TempDir()}
	c.write(joiners, settings)
	return c
}

func (c *cluster) write(joiners int, settings string) {
	c.t.Helper()
	file := filepath.Join(c.dir, "topology.toml")
	text := fmt.Sprintf(page, c.rack.Hosts[0].Address, c.rack.Hosts[1].Address, joiners, settings)
	must(c.t, os.WriteFile(file, []byte(text), 0o644))
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
	var stderr bytes.Buffer
	cmd := exec.Command(posta, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("posta %s: %v: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

// on is the nodes and medics of a host.
func (c *cluster) on(h *rack.Host) (ids []topology.NodeID) {
	for _, n := range c.topo.All() {
		if n.Host == h.Name {
			ids = append(ids, n.ID)
		}
	}
	return ids
}
