//go:build docker

package docker

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"posta.dev/posta/medic/docker"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// cluster is what compose has brought up.
type cluster struct {
	t       *testing.T
	project string
	topo    *topology.Topology // as it is seen from outside
	engine  *engine            // as medics see it
	hand    *docker.Restarter  // ours, over the real engine
	*clustertest.Cluster
}

var clusters atomic.Int64

// up brings up a cluster, and ends it with the test. Settings of its topology may differ from the defaults.
func up(t *testing.T, settings ...map[string]string) *cluster {
	t.Helper()
	c := &cluster{t: t, project: fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), clusters.Add(1))}
	dir := filepath.Join(temporary, c.project)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c.engine = newEngine(t, dir)
	c.write(dir, settings...)
	var err error
	if c.hand, err = docker.New(docker.Config{Cluster: c.topo.Name}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.hand.Close() })
	t.Cleanup(c.down)
	c.compose("up", "-d")
	c.Cluster = clustertest.New(t, c.topo)
	return c
}

// write makes the two files, on ports that are free now.
func (c *cluster) write(dir string, settings ...map[string]string) {
	c.t.Helper()
	variant := topology.Variant{Name: c.project, Ports: clustertest.FreePorts(c.t, 40), Settings: map[string]string{}}
	for _, s := range settings {
		maps.Copy(variant.Settings, s)
	}
	text, err := topology.Generate(variant)
	file := filepath.Join(dir, "topology.toml")
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err == nil {
		c.topo, err = topology.LoadWith(file, topology.Addresses{Local: topology.Published})
	}
	if err == nil {
		_, err = clustertest.Command(posta, "topology", "published", file)
	}
	if err == nil {
		_, err = clustertest.Command(posta, "topology", "compose", file, "--image", image, "--out", filepath.Join(dir, "docker-compose.yaml"))
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// compose runs whichever compose there is.
func (c *cluster) compose(args ...string) {
	c.t.Helper()
	program := []string{"docker", "compose"}
	if exec.Command("docker", "compose", "version").Run() != nil {
		program = []string{"docker-compose"}
	}
	program = append(program, "-p", c.project, "-f", filepath.Join(filepath.Dir(c.topo.File), "docker-compose.yaml"))
	cmd := exec.Command(program[0], append(program[1:], args...)...)
	cmd.Env = append(os.Environ(), "DOCKER_SOCK="+c.engine.path)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("compose %v: %v: %s", args, err, out)
	}
}

// ids returns the project's containers, or those of them that have all of some labels.
func (c *cluster) ids(labels ...string) []string {
	args := []string{"docker", "ps", "-aq"}
	for _, l := range append(labels, "com.docker.compose.project="+c.project) {
		args = append(args, "-f", "label="+l)
	}
	out, err := clustertest.Command(args...)
	if err != nil {
		c.t.Error(err)
	}
	return strings.Fields(out)
}

func (c *cluster) down() {
	if c.t.Failed() {
		c.showLogs()
	}
	// By force, and medics first: then nobody is left to start anybody. An engine that removes a container while a medic has it started
	// sometimes keeps its end of the network for ever, and with it the network.
	for _, labels := range [][]string{{"posta.role=medic"}, {}} {
		if ids := c.ids(labels...); len(ids) > 0 {
			if _, err := clustertest.Command(append([]string{"docker", "rm", "-f", "-v"}, ids...)...); err != nil {
				c.t.Error(err)
			}
		}
	}
	c.compose("down", "-v")
	// Compose leaves those of nodes that its file no longer has.
	volumes, err := clustertest.Command("docker", "volume", "ls", "-q", "-f", "label=com.docker.compose.project="+c.project)
	if err == nil && volumes != "" {
		_, err = clustertest.Command(append([]string{"docker", "volume", "rm"}, strings.Fields(volumes)...)...)
	}
	if err != nil {
		c.t.Error(err)
	}
}

func (c *cluster) showLogs() {
	for _, id := range c.ids() {
		name, _ := clustertest.Command("docker", "inspect", "-f", "{{.Name}} {{.State.Status}} {{.State.ExitCode}}", id)
		out, _ := exec.Command("docker", "logs", "--tail", "15", id).CombinedOutput()
		c.t.Logf("%s\n%s", name, out)
	}
}

// pid is the process that a container runs, as this machine counts.
func (c *cluster) pid(id topology.NodeID) int {
	c.t.Helper()
	pid, err := c.hand.Pid(id)
	if err != nil || pid == 0 {
		c.t.Fatalf("%s has no process: %v", id, err)
	}
	return pid
}

// signal reaches the process behind the engine's back: what dies of a fault dies so.
func (c *cluster) signal(id topology.NodeID, s syscall.Signal) (pid int) {
	c.t.Helper()
	pid = c.pid(id)
	if err := syscall.Kill(pid, s); err != nil {
		c.t.Fatalf("%s: %v", id, err)
	}
	return pid
}

// load runs two analyses at a time; their answers are those of the oracles, as in a quiet run.
func (c *cluster) load(rows int) *clustertest.Load {
	c.t.Helper()
	return clustertest.Begin(c.t, c.topo, clustertest.Make(c.t, "bikes", rows), clustertest.Make(c.t, "flights", rows/4))
}
