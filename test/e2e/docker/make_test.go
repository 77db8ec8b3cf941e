//go:build docker

package docker

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// make up over a running cluster, with another image, with more replicas and with fewer: all nodes run afterwards, and sessions end. Medics
// used to start containers that compose was replacing: make failed, the output was missing, and sessions hung.
func TestMakeUpOverARunningCluster(t *testing.T) {
	c := up(t)
	dir := filepath.Dir(c.topo.File)
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "Makefile"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "Makefile"), text, 0o644)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "bin"), 0o755)
	}
	if err == nil {
		err = os.Symlink(posta, filepath.Join(dir, "bin", "posta"))
	}
	other := image + "-b"
	if err == nil {
		_, err = clustertest.Command("docker", "build", "-q", "-t", other, "--label", "of=another build", filepath.Dir(filepath.Dir(posta)))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = clustertest.Command("docker", "rmi", "-f", other) }) // before the cluster is down: the image itself goes later
	data := filepath.Join(dir, "bikes")
	if _, err := clustertest.Command(posta, "gen", "bikes", "--rows", "2000", "--out", data); err != nil {
		t.Fatal(err)
	}
	c.submit(data)
	ports := c.topo.Hosts[0].Ports
	for _, step := range []struct {
		name, image string
		joiners     string
	}{{"another image", other, "2"}, {"more joiners", other, "3"}, {"nothing new", other, "3"}, {"fewer joiners, the image before", image, "1"}} {
		text, err := topology.Generate(topology.Variant{Name: c.project, Ports: ports, Replicas: map[string]int{"joiner": int(step.joiners[0] - '0')}})
		if err == nil {
			err = os.WriteFile(c.topo.File, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("make", "-o", "image", "up", "PROJECT="+c.project, "IMAGE="+step.image)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "DOCKER_SOCK="+c.engine.path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: make up: %v: %s", step.name, err, out)
		}
		c.submit(data)
		if got := len(c.ids()); got != len(c.topo.Nodes())-2+int(step.joiners[0]-'0')+len(c.topo.MedicNodes()) {
			t.Errorf("%s: %d containers", step.name, got)
		}
	}
}

// submit runs a session from outside.
func (c *cluster) submit(data string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, posta, "submit", "bikes", "--data", data, "-q", "-f", c.topo.File, "--timeout", "90s").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\n") {
		c.t.Fatalf("submit: %v: %s", err, out)
	}
}
