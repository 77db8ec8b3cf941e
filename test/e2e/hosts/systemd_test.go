//go:build docker && linux

package hosts

import (
	"path/filepath"
	"testing"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/hosts/rack"
	"posta.dev/posta/topology"
)

// TestSystemd does what INSTALL.md says on two machines with a systemd each. Then nodes and medics are killed and stopped, and a whole
// machine dies, while analyses run.
func TestSystemd(t *testing.T) {
	r := rack.New(t, 2, rack.Options{Systemd: true})
	c := newCluster(t, r, onBoth)
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
	w := clustertest.New(t, c.topo)
	l := clustertest.Begin(t, c.topo, clustertest.EveryAnalysis(t, 8000)...)
	w.Strike(func(id topology.NodeID) { c.signal(id, "SIGKILL") }, "joiner-1", "aggregator-2")
	w.Strike(func(id topology.NodeID) { c.signal(id, "SIGSTOP") }, "reducer-1") // it hangs, which systemd does not see
	w.Strike(func(id topology.NodeID) { c.signal(id, "SIGKILL") }, w.Leader())
	c.loseHost(w, c.hostOf(w.Leader()))
	l.More(1)
	t.Logf("%d analyses meanwhile, all answers right", l.End())
	c.stopAndStart(w, r.Hosts[0])
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
	c.ownKeys(h)
	c.exec(h, "systemctl", "daemon-reload")
	c.exec(h, "systemctl", "enable", "--now", "posta-e2e.target")
}

func (c *cluster) exec(h *rack.Host, args ...string) string {
	c.t.Helper()
	out, err := h.Exec(args...)
	must(c.t, err)
	return out
}

func (c *cluster) signal(id topology.NodeID, signal string) {
	c.t.Helper()
	c.exec(c.hostOf(id), "systemctl", "kill", "--signal="+signal, c.topo.Unit(id))
}

// stopAndStart ends and begins all of a host, as the note says. Every unit ends in time: systemd kills one that does not, and calls it
// failed. The units are part of the target, which systemd stops before them, so the command returns before they have ended.
func (c *cluster) stopAndStart(w *clustertest.Cluster, h *rack.Host) {
	c.t.Helper()
	c.exec(h, "systemctl", "stop", "posta-e2e.target")
	for _, id := range c.on(h) {
		w.Until("host "+h.Name+" was asked to stop, and "+string(id)+" ends", func() bool {
			return c.exec(h, "systemctl", "show", "-p", "MainPID", c.topo.Unit(id)) == "MainPID=0"
		})
	}
	if failed, err := h.Failed(); err != nil || len(failed) > 0 {
		c.t.Errorf("N5: host %s was asked to stop, and %v failed, %v", h.Name, failed, err)
	}
	before := w.Incarnation(c.on(h)[0])
	c.exec(h, "systemctl", "start", "posta-e2e.target")
	w.Until("host "+h.Name+" is back", func() bool { return w.Incarnation(c.on(h)[0]) > before && w.Leader() != "" })
}
