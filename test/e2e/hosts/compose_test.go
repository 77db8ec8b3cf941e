//go:build docker && linux

package hosts

import (
	"strings"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/hosts/rack"
	"posta.dev/posta/topology"
)

// TestCompose brings up what is rendered for two machines with an engine each. While all analyses run, stages on both sides of the link,
// nodes are killed, the link is cut and healed, and the machine with the leader dies and comes back.
func TestCompose(t *testing.T) {
	r := rack.New(t, 2, rack.Options{})
	c := newCluster(t, r, onBoth)
	image(t, r.Hosts[0], "posta", "1")
	must(t, r.Hosts[1].Load(r.Hosts[0], "posta"))
	for _, h := range r.Hosts {
		c.compose(h, "up", "-d")
	}
	t.Cleanup(func() { c.showLogs() })
	w := clustertest.New(t, c.topo)
	l := clustertest.Begin(t, c.topo, clustertest.EveryAnalysis(t, 8000)...)
	w.Strike(func(id topology.NodeID) { docker(t, c.hostOf(id), "kill", c.container(id)) }, "joiner-1", "aggregator-2", "reducer-1")
	c.part(w)
	c.loseHost(w, c.hostOf(w.Leader()))
	l.More(1)
	t.Logf("%d analyses meanwhile, all answers right", l.End())
	for _, h := range r.Hosts { // as INSTALL.md says: medics first
		c.compose(h, append([]string{"stop"}, c.medics(h)...)...)
		c.compose(h, "down")
	}
}

func (c *cluster) compose(h *rack.Host, args ...string) {
	c.t.Helper()
	_, err := h.Compose(c.render("compose", h), args...)
	must(c.t, err)
}

func (c *cluster) medics(h *rack.Host) (names []string) {
	for _, n := range c.topo.MedicNodes() {
		if n.Host == h.Name {
			names = append(names, string(n.ID))
		}
	}
	return names
}

// container returns the node's, found as medics find it.
func (c *cluster) container(id topology.NodeID) string {
	c.t.Helper()
	return docker(c.t, c.hostOf(id), "ps", "-aq", "-f", "label="+topology.LabelNode+"="+string(id))
}

// part cuts the link between the hosts for longer than a suspicion, and heals it. Each side has a leader. What it suspects is out of
// its reach, so nothing is restarted.
func (c *cluster) part(w *clustertest.Cluster) {
	c.t.Helper()
	before := c.lives(w)
	since := time.Now()
	must(c.t, c.rack.Cut())
	time.Sleep(5 * c.topo.Medics.SuspectAfter)
	must(c.t, c.rack.Heal())
	told := w.Over(since)
	if len(told) == 0 {
		c.t.Error("the link was cut, and nobody has noticed")
	}
	w.Until("one leads", func() bool { return w.Agree() })
	for id, now := range c.lives(w) {
		if now != before[id] {
			c.t.Errorf("M4: the link was cut, and %s was incarnation %d and is %d: %+v", id, before[id], now, told)
		}
	}
}

func (c *cluster) showLogs() {
	if !c.t.Failed() {
		return
	}
	for _, n := range c.topo.All() {
		out, err := c.hostOf(n.ID).Docker("ps", "-aq", "-f", "label="+topology.LabelNode+"="+string(n.ID))
		if err != nil || out == "" {
			continue
		}
		b, _ := c.hostOf(n.ID).Both("logs", "--tail", "12", strings.Fields(out)[0])
		c.t.Logf("%s:\n%s", n.ID, b)
	}
}
