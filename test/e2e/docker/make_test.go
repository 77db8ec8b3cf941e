//go:build docker

package docker

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
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
	}{{"another image", other, "2"}, {"more joiners", other, "3"}, {"nothing new", other, "3"},
		{"fewer joiners, the image before", image, "1"}} {
		text, err := topology.Generate(topology.Variant{Name: c.project, Ports: ports,
			Replicas: map[string]int{"joiner": int(step.joiners[0] - '0')}})
		if err == nil {
			err = os.WriteFile(c.topo.File, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.makeUp(step.name, step.image)
		c.submit(data)
		if got := len(c.ids()); got != len(c.topo.Nodes())-2+int(step.joiners[0]-'0')+len(c.topo.MedicNodes())+1 { // and own-volumes
			t.Errorf("%s: %d containers", step.name, got)
		}
	}
	input := c.topo.Holding(topology.Input)[0]
	if reply, err := client.RequestOnce(t.Context(), nil, input.Sockets.Client.Dial, protocol.Request{Type: protocol.Info},
		3*time.Second); err == nil {
		t.Errorf("S1: nobody has asked for keys, and a client without one is told %+v", reply)
	}
	if err := os.RemoveAll(c.topo.KeysDir); err != nil {
		t.Fatal(err)
	}
	c.makeUpWithKeys(data)
}

func (c *cluster) makeUp(what, image string) {
	c.t.Helper()
	c.make(what, "up", "IMAGE="+image)
}

func (c *cluster) make(what string, args ...string) {
	c.t.Helper()
	cmd := exec.Command("make", append([]string{"-o", "image", "PROJECT=" + c.project}, args...)...)
	cmd.Dir, cmd.Env = filepath.Dir(c.topo.File), append(os.Environ(), "DOCKER_SOCK="+c.engine.path)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: make %s: %v: %s", what, args[0], err, out)
	}
}

// makeUpWithKeys gives the cluster keys, and then other ones. Clients without a key are refused, and the engine shows nobody a private key.
func (c *cluster) makeUpWithKeys(data string) {
	c.t.Helper()
	posta := func(args ...string) string {
		c.t.Helper()
		out, err := clustertest.Command(append([]string{posta}, append(args, "-f", c.topo.File)...)...)
		if err != nil {
			c.t.Fatal(err)
		}
		return out
	}
	posta("key", "init")
	text, err := os.ReadFile(c.topo.File)
	if err == nil {
		line := posta("key", "new", "alice", "--role", "submit")
		err = os.WriteFile(c.topo.File, []byte(strings.Replace(string(text), "[clients]\n", "[clients]\n"+line+"\n", 1)), 0o644)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.makeUp("with keys", image)
	c.submit(data)
	input := c.topo.Holding(topology.Input)[0]
	reply, err := client.RequestOnce(c.t.Context(), nil, input.Sockets.Client.Dial, protocol.Request{Type: protocol.Info}, 3*time.Second)
	if err == nil {
		c.t.Errorf("S2: a client without a key is told %+v", reply)
	}
	before := c.ids()
	posta("key", "init", "--rotate-ca")
	posta("key", "init", "--rotate-ca")
	c.makeUp("other keys", image)
	c.submit(data)
	if now := c.ids(); !slices.Equal(before, now) {
		c.t.Errorf("other keys have replaced containers: %v, and before %v", now, before)
	}
	shown, err := clustertest.Command(append([]string{"docker", "inspect", image}, before...)...)
	if err != nil {
		c.t.Fatal(err)
	}
	keys, err := filepath.Glob(filepath.Join(filepath.Dir(c.topo.File), "keys", "*", "*", "key.pem"))
	if err != nil || len(keys) < len(before) { // own-volumes has none, and alice has
		c.t.Fatalf("%d keys are to be looked for, %v", len(keys), err)
	}
	for _, file := range keys {
		key, err := os.ReadFile(file)
		if err != nil {
			c.t.Fatal(err)
		}
		if secret := strings.Split(string(key), "\n")[1][20:]; strings.Contains(shown, secret) { // what is before is the same in all keys
			c.t.Errorf("S6: the engine shows %s", file)
		}
	}
	c.make("make down", "down", "DOWN=-v")
	volumes, err := clustertest.Command("docker", "volume", "ls", "-q", "-f", "label=com.docker.compose.project="+c.project)
	if err != nil || volumes != "" { // joiner-2 and joiner-3 have left the topology
		c.t.Errorf("S6: make down DOWN=-v leaves %s, %v", volumes, err)
	}
}

// submit runs a session from outside.
func (c *cluster) submit(data string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, posta, "submit", "bikes", "--data", data, "-q", "-f", c.topo.File, "--timeout",
		"90s").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\n") {
		c.t.Fatalf("submit: %v: %s", err, out)
	}
}
