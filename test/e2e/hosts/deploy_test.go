//go:build docker && linux

package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/hosts/rack"
	"posta.dev/posta/topology"
)

// TestDeploy makes a cluster over two machines, changes it and takes it down, with `posta deploy` and nothing else, while all analyses run. No
// session fails, and no bit of an answer changes.
func TestDeploy(t *testing.T) {
	r := rack.New(t, 2, rack.Options{})
	c := newCluster(t, r, one)
	t.Cleanup(func() { c.showLogs() })
	c.deploy()
	if out := c.posta("deploy", "-f", c.topo.File, "--plan"); strings.Count(out, "\n") > 1 {
		t.Errorf("a second deploy would do something:\n%s", out)
	}
	w := clustertest.New(t, c.topo)
	l := clustertest.Begin(t, c.topo, clustertest.EveryAnalysis(t, 8000)...)
	w.Strike(func(id topology.NodeID) { docker(t, c.hostOf(id), "kill", c.container(id)) }, "joiner-1", "reducer-1")
	c.part(w)
	c.loseHost(w, c.hostOf(w.Leader()))
	c.some(w, l)

	// 1 → 3 joiners, on both machines.
	c.write(2, three)
	c.deploy()
	w = clustertest.New(t, c.topo)
	c.some(w, l)

	// A new program, with the same topology.
	c.deploy("--program", c.newProgram("posta-2"))
	c.some(w, l)

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

// newProgram is another release of posta.
func (c *cluster) newProgram(name string) string {
	c.t.Helper()
	name = filepath.Join(c.dir, name)
	cmd := exec.Command("go", "build", "-ldflags", "-X main.release=2", "-o", name, filepath.Join("..", "..", ".."))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("build posta: %v: %s", err, out)
	}
	return name
}

// some waits until each analysis was run once more.
func (c *cluster) some(w *clustertest.Cluster, l *clustertest.Load) {
	c.t.Helper()
	c.t.Logf("%s: %d analyses so far", time.Now().Format(time.TimeOnly), l.Done())
	for _, name := range []string{"bikes", "flights", "movies", "memes"} {
		n := l.Of(name)
		w.Until("one more run of "+name, func() bool { return c.t.Failed() || l.Of(name) > n })
	}
}
