//go:build docker && linux

package hosts

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/hosts/rack"
	"posta.dev/posta/topology"
)

// TestDeploy makes a cluster over two machines, changes it and takes it down, with `posta deploy` and nothing else, while all analyses run.
// No session fails, and no bit of an answer changes.
func TestDeploy(t *testing.T) {
	r := rack.New(t, 2, rack.Options{})
	c := newCluster(t, r, one)
	t.Cleanup(func() { c.showLogs() })
	c.deploy()
	c.plansNothing()
	w := clustertest.New(t, c.topo)
	l := clustertest.Begin(t, c.topo, clustertest.EveryAnalysis(t, 8000)...)
	w.Strike(func(id topology.NodeID) { docker(t, c.hostOf(id), "kill", c.container(id)) }, "joiner-1", "reducer-1")
	c.part(w)
	c.loseHost(w, c.hostOf(w.Leader()))
	l.More(1)

	// 1 → 3 joiners, on both machines.
	c.write(2, three)
	c.deploy()
	clustertest.New(t, c.topo) // all are heard
	l.More(1)

	// A new program, with the same topology.
	c.deploy("--program", c.newProgram("posta-2"))
	l.More(1)

	if t.Failed() {
		t.FailNow() // while there are logs to be shown
	}
	t.Logf("%d analyses, all answers right", l.End())
	c.posta("undeploy", "-f", c.topo.File, "--volumes", "--yes")
	for _, h := range r.Hosts {
		for _, what := range [][]string{{"ps", "-aq"}, {"volume", "ls", "-q"}, {"network", "ls", "-q", "-f", "type=custom"}} {
			if out := docker(t, h, what...); out != "" {
				t.Errorf("host %s: undeploy leaves %v: %s", h.Name, what, out)
			}
		}
	}
}

// deploy is `posta deploy`, which ends when everybody is heard.
func (c *cluster) deploy(flags ...string) {
	c.t.Helper()
	c.posta(append([]string{"deploy", "-f", c.topo.File}, flags...)...)
}

// plansNothing demands that a second deploy does nothing. On a machine that has stood still, medics may be restarting a node, and until it
// runs a deploy would start it: that passes.
func (c *cluster) plansNothing() {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		out := c.posta("deploy", "-f", c.topo.File, "--plan")
		if !strings.Contains(out, "\n") {
			return
		}
		if !strings.Contains(out, "what is missing") || time.Now().After(end) {
			c.t.Errorf("a second deploy would do something:\n%s", out)
			return
		}
	}
}

// newProgram is another release of posta.
func (c *cluster) newProgram(name string) string {
	c.t.Helper()
	name = filepath.Join(c.dir, name)
	must(c.t, clustertest.Build(filepath.Join("..", "..", ".."), name, "2"))
	return name
}
