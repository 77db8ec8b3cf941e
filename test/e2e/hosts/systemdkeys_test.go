//go:build docker && linux

package hosts

import (
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/hosts/rack"
)

// TestS6_SystemdWithKeys does what INSTALL.md says of keys, on two machines with a systemd each: a session runs, and after the file of
// revoked keys came the same way a client loses its connection.
func TestS6_SystemdWithKeys(t *testing.T) {
	r := rack.New(t, 2, rack.Options{Systemd: true})
	c := &cluster{t: t, rack: r, name: "e2e", dir: t.TempDir(), keyed: true}
	c.write(2, one)
	c.posta("key", "init", "-f", c.topo.File)
	for _, name := range []string{"alice", "mallory"} {
		c.clients += c.posta("key", "new", name, "--role", "submit", "-f", c.topo.File) + "\n"
	}
	c.write(2, one)
	t.Cleanup(func() {
		if t.Failed() {
			for _, h := range r.Hosts {
				out, _ := h.Exec("journalctl", "-n", "60", "-o", "short-precise", "-u", "posta-e2e-*")
				t.Logf("host %s:\n%s", h.Name, out)
			}
		}
	})
	for _, h := range r.Hosts {
		c.install(h)
	}
	alice, mallory := c.clientKeys("alice"), c.clientKeys("mallory")
	l := clustertest.BeginWithKeys(t, c.topo, alice, clustertest.Bikes(t, 2000))
	l.More(1)
	c.refuses(nil, client.ErrNoCluster)
	cut := c.connect(mallory)
	c.posta("key", "revoke", "mallory", "-f", c.topo.File)
	for _, h := range r.Hosts {
		must(t, h.Copy(c.render("systemd", h), []string{"etc", "var"}, "/"))
		c.ownKeys(h)
		c.exec(h, "systemctl", "kill", "--signal=HUP", "--kill-who=main", "posta-e2e-*.service")
	}
	select {
	case <-cut:
	case <-time.After(time.Minute):
		t.Error("S6: a client that was revoked keeps its connection")
	}
	c.refuses(mallory, client.ErrRefused)
	l.More(1)
	t.Logf("%d analyses, all answers right", l.End())
}

// ownKeys gives the keys of nodes to their user, as INSTALL.md says. Those of medics stay root's.
func (c *cluster) ownKeys(h *rack.Host) {
	if c.keyed {
		c.exec(h, "chown", "-R", "posta:", "/etc/posta/e2e/keys/node")
	}
}
