//go:build docker && linux

package hosts

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"posta/e2e/hosts/rack"
	"posta/e2e/ward"
	"posta/topology"
)

// TestSystemd does what INSTALL.md says on two machines with a systemd each. Then nodes and medics are killed and stopped, and a whole machine
// dies, while analyses run.
func TestSystemd(t *testing.T) {
	r := rack.New(t, 2, rack.Options{Systemd: true})
	c := newCluster(t, r, 2, "")
	for _, h := range r.Hosts {
		c.install(h)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, h := range r.Hosts {
				out, _ := h.Exec("journalctl", "-n", "60", "-o", "short-precise", "-u", "posta-e2e-*")
				t.Logf("host %s:\n%s", h.Name, out)
			}
		}
	})
	w := ward.New(t, c.topo)
	l := ward.Begin(t, c.topo, ward.Every(t, 8000)...)
	w.Strike(func(id topology.NodeID) { c.signal(id, "SIGKILL") }, "joiner-1", "aggregator-2")
	w.Strike(func(id topology.NodeID) { c.signal(id, "SIGSTOP") }, "reducer-1") // it hangs, which systemd does not see
	w.Strike(func(id topology.NodeID) { c.signal(id, "SIGKILL") }, w.Leader())
	c.loseHost(w, c.hostOf(w.Leader()))
	for _, name := range []string{"bikes", "flights", "movies", "memes"} {
		w.Until("one more run of "+name, func() bool { return l.Of(name) > 0 })
	}
	t.Logf("%d analyses meanwhile, all answers right", l.End())
}

// install follows INSTALL.md.
func (c *cluster) install(h *rack.Host) {
	c.t.Helper()
	dir := c.render("systemd", h)
	units, err := filepath.Glob(filepath.Join(dir, "etc/systemd/system/*"))
	must(c.t, err)
	c.exec(h, "mkdir", "-p", "/usr/local/bin")
	must(c.t, h.Copy(filepath.Dir(posta), []string{"posta"}, "/usr/local/bin"))
	must(c.t, h.Copy(dir, []string{"etc", "var"}, "/"))
	verify := []string{"systemd-analyze", "verify", "--man=no"}
	for _, u := range units {
		verify = append(verify, "/etc/systemd/system/"+filepath.Base(u))
	}
	if out := c.exec(h, verify...); out != "" {
		c.t.Errorf("systemd-analyze verify: %s", out)
	}
	c.exec(h, "systemd-sysusers")
	c.exec(h, "systemctl", "daemon-reload")
	c.exec(h, "systemctl", "enable", "--now", "posta-e2e.target")
}

func (c *cluster) exec(h *rack.Host, args ...string) string {
	c.t.Helper()
	out, err := h.Exec(args...)
	must(c.t, err)
	return out
}

func (c *cluster) hostOf(id topology.NodeID) *rack.Host {
	i := slices.IndexFunc(c.topo.All(), func(n topology.Node) bool { return n.ID == id })
	name := c.topo.All()[i].Host
	return c.rack.Hosts[slices.IndexFunc(c.rack.Hosts, func(h *rack.Host) bool { return h.Name == name })]
}

func (c *cluster) signal(id topology.NodeID, signal string) {
	c.t.Helper()
	c.exec(c.hostOf(id), "systemctl", "kill", "--signal="+signal, c.topo.Unit(id))
}

// loseHost kills a machine and starts it again. Nobody else may be restarted for it.
func (c *cluster) loseHost(w *ward.Ward, h *rack.Host) {
	c.t.Helper()
	before := map[topology.NodeID]uint64{}
	for _, n := range c.topo.All() {
		before[n.ID] = w.Incarnation(n.ID)
	}
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
