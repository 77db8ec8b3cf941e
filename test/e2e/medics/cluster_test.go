package medics

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// cluster is what `posta up` has started.
type cluster struct {
	t    *testing.T
	topo *topology.Topology
	dir  string
	*clustertest.Cluster
}

// up starts a cluster, and ends it with the test.
func up(t *testing.T, settings map[string]string) *cluster {
	t.Helper()
	return upIn(t, t.TempDir(), settings)
}

// upIn returns up in a given directory, which then holds the data.
func upIn(t *testing.T, dir string, settings map[string]string) *cluster {
	t.Helper()
	c := newCluster(t, dir, topology.Variant{Settings: settings})
	c.up()
	return c
}

// newCluster writes the topology of a cluster on this machine.
func newCluster(t *testing.T, dir string, v topology.Variant) *cluster {
	t.Helper()
	v.IPCDir, v.Settings = temp.Sockets(t), calmly(v.Settings)
	text, err := topology.Generate(v)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{t: t, dir: dir, topo: temp.Loaded(t, filepath.Join(dir, "topology.toml"), text)}
}

// up starts it, and ends it with the test.
func (c *cluster) up() {
	c.t.Helper()
	c.t.Cleanup(func() {
		c.posta("down")
		if c.t.Failed() {
			c.showLogs()
		}
	})
	c.posta("up")
	c.Cluster = clustertest.New(c.t, c.topo)
}

func (c *cluster) posta(args ...string) {
	c.t.Helper()
	out, err := exec.Command(os.Args[0], append(args, "-f", c.topo.File)...).CombinedOutput()
	if err != nil {
		c.t.Errorf("posta %v: %v: %s", args, err, out)
	}
}

func (c *cluster) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(c.topo.DataDir, "log", "*.log"))
	for _, l := range logs {
		b, _ := os.ReadFile(l)
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		c.t.Logf("%s:\n%s", filepath.Base(l), strings.Join(lines[max(0, len(lines)-12):], "\n"))
	}
}

// pid returns the pid in the pid file, 0 for none.
func (c *cluster) pid(id topology.NodeID) int {
	b, err := os.ReadFile(filepath.Join(c.topo.DataDir, "pids", string(id)))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}

func (c *cluster) signal(id topology.NodeID, s syscall.Signal) (pid int) {
	c.t.Helper()
	pid = c.pid(id)
	if pid == 0 {
		c.t.Fatalf("%s has no process", id)
	}
	if err := syscall.Kill(pid, s); err != nil {
		c.t.Fatalf("%s: %v", id, err)
	}
	return pid
}

// gone reports whether a process has ended. A zombie has.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	rest := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	return len(rest) == 0 || rest[0] == "Z" || rest[0] == "X"
}

// load runs two analyses at a time.
func (c *cluster) load(rows int) *clustertest.Load {
	c.t.Helper()
	j := clustertest.Bikes(c.t, rows)
	return clustertest.Begin(c.t, c.topo, j, j)
}
