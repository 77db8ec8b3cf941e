//go:build docker

package docker

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/medic/core"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// kill is kill -9. For nodes it bypasses the engine. The engine would restart a medic that dies in this way, so for a
// medic the engine itself is told to kill it, and the other medics start it again.
func (c *cluster) kill(ids ...topology.NodeID) {
	c.t.Helper()
	c.Strike(func(id topology.NodeID) {
		if _, err := c.topo.Node(id); err == nil {
			c.signal(id, syscall.SIGKILL)
		} else if err := c.hand.Signal(c.t.Context(), id, "SIGKILL"); err != nil {
			c.t.Fatal(err)
		}
	}, ids...)
}

// hang stops a process for good: it is killed, and no zombie of it wakes later.
func (c *cluster) hang(id topology.NodeID) {
	c.t.Helper()
	var pid int
	c.Strike(func(id topology.NodeID) { pid = c.signal(id, syscall.SIGSTOP) }, id)
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		c.t.Errorf("M5: process %d of %s hangs on beside its successor (%v)", pid, id, err)
	}
}

func TestM5_WhatDiesOrHangsInAContainerComesBackOnce(t *testing.T) {
	c := up(t)
	l := c.load(30000)
	for _, id := range []topology.NodeID{"input-1", "joiner-2", "aggregator-1", "reducer-1", "output-1"} {
		c.kill(id)
	}
	generation := c.Generation()
	c.kill(c.Leader())
	if now := c.Generation(); now != generation+1 {
		t.Errorf("M3: generation %d after the death of the leader of %d", now, generation)
	}
	c.kill(c.Leader(), "aggregator-2")
	c.kill(c.Leader(), c.Followers()[0])
	c.hang("joiner-1")
	c.hang(c.Followers()[0])
	c.hang(c.Leader())
	if n := l.End(); n < 2 {
		t.Errorf("%d analyses only", n)
	}
}

// A medic that crashes is started by the engine: medics find that it was done.
func TestM5_WhatTheEngineHasStartedIsNotStartedAgain(t *testing.T) {
	c := up(t)
	for _, id := range []topology.NodeID{c.Followers()[0], c.Leader()} {
		since, before := time.Now(), c.Incarnation(id)
		c.signal(id, syscall.SIGKILL)
		c.Until("it is back", func() bool {
			open := func(i core.Incident) bool { return i.Open }
			return c.Incarnation(id) > before && c.Leader() != "" && !slices.ContainsFunc(c.Incidents(since), open)
		})
		time.Sleep(2 * c.topo.Medics.SuspectAfter)
		if now := c.Incarnation(id); now != before+1 {
			t.Errorf("M5: %s was incarnation %d and is %d", id, before, now)
		}
		for _, i := range c.Incidents(since) {
			if i.Node != id || i.Restarts != 0 || i.Open {
				t.Errorf("M5: the engine has started %s, and the journal reports %+v", id, i)
			}
		}
	}
}

// A node that cannot start, because it cannot read the topology, is tried again and again, later and later.
func TestM5_AContainerThatCrashesAtItsStartIsGivenTime(t *testing.T) {
	c := up(t)
	l := c.load(10000)
	since := time.Now()
	good, err := os.ReadFile(c.topo.File)
	if err == nil {
		err = os.WriteFile(c.topo.File, []byte("[cluster\n"), 0o644) // in place: containers have this very file
	}
	if err != nil {
		t.Fatal(err)
	}
	c.signal("joiner-2", syscall.SIGKILL)
	c.Until("five failures in a row", func() bool {
		all := c.Incidents(since)
		return len(all) == 1 && all[0].InARow >= 5
	})
	if err := os.WriteFile(c.topo.File, good, 0o644); err != nil {
		t.Fatal(err)
	}
	all := c.Over(since)
	if len(all) != 1 || all[0].Node != "joiner-2" {
		t.Errorf("M5: one node could not start, and the journal reports %+v", all)
	}
	c.PausesGrow("joiner-2")
	l.End()
}

func TestM4_AMedicThatWasCutOffComesBack(t *testing.T) {
	c := up(t)
	l := c.load(30000)
	for _, id := range []topology.NodeID{"joiner-1", "output-1"} {
		c.cutOff(id)
	}
	if n := l.End(); n < 2 {
		t.Errorf("%d analyses only", n)
	}
}

// A leader that is cut off hears nothing, but still has the engine's socket: it must not restart working nodes.
func TestM6_ALeaderThatIsCutOffHarmsNoNode(t *testing.T) {
	c := up(t)
	l := c.load(30000)
	generation := c.Generation()
	c.cutOff(c.Leader())
	if now := c.Generation(); now != generation+1 {
		t.Errorf("M3: generation %d after the leader of %d was cut off", now, generation)
	}
	if n := l.End(); n < 2 {
		t.Errorf("%d analyses only", n)
	}
}

// cutOff takes somebody out of the network. Its restart puts it back.
func (c *cluster) cutOff(id topology.NodeID) {
	c.t.Helper()
	c.Strike(func(id topology.NodeID) {
		if did, err := c.hand.Detach(c.t.Context(), id); err != nil || !did {
			c.t.Fatalf("cut off %s: %v, %v", id, did, err)
		}
	}, id)
}

// The leader and the other medics hear all nodes, and not each other. There are two leaders then; nodes do not notice, and in the end there
// is one.
func TestM3_MedicsThatAreCutOffFromEachOther(t *testing.T) {
	c := up(t)
	l := c.load(30000)
	since, old := time.Now(), c.Leader()
	before := map[topology.NodeID]uint64{}
	for _, n := range c.topo.Nodes() {
		before[n.ID] = c.Incarnation(n.ID)
	}
	generation := c.Generation()
	heal := c.part(old, c.Followers())
	c.Until("the others elect", func() bool { return c.Generation() > generation })
	time.Sleep(3 * c.topo.Medics.SuspectAfter)
	heal()
	c.Over(since)
	c.Settle()
	for id, was := range before {
		if now := c.Incarnation(id); now != was {
			t.Errorf("M5: %s works, and was restarted: incarnation %d, then %d", id, was, now)
		}
	}
	for _, i := range c.Incidents(since) {
		if _, isNode := before[i.Node]; isNode {
			t.Errorf("M6: nothing happened to nodes, and the journal reports %+v", i)
		}
	}
	c.kill("joiner-1") // and whoever leads works
	if n := l.End(); n < 2 {
		t.Errorf("%d analyses only", n)
	}
}

// However slow the engine is, each dead target is started once, and medics continue hearing each other, because they ask the engine for
// nothing else.
func TestM9_ASlowEngineIsNoReasonToDoItTwice(t *testing.T) {
	c := up(t)
	l := c.load(30000)
	generation := c.Generation()
	for _, m := range []mood{slow, deaf, mute} {
		c.killWhile(m, "joiner-1")
	}
	if now := c.Generation(); now != generation {
		t.Errorf("M2: medics have lost their leader over a slow engine: generation %d, then %d", generation, now)
	}
	if n := l.End(); n < 2 {
		t.Errorf("%d analyses only", n)
	}
}

// killWhile kills a node while the engine is in that mood: the leader gives the order again, to another medic too, before it hears that the
// first was carried out. The node must not have been started twice.
func (c *cluster) killWhile(m mood, id topology.NodeID) {
	c.t.Helper()
	since, before := time.Now(), c.Incarnation(id)
	c.engine.be(m)
	c.signal(id, syscall.SIGKILL)
	if m != slow {
		time.Sleep(6 * time.Second) // longer than a medic waits for an answer
		c.engine.be(quick)
	}
	all := c.Over(since)
	c.engine.be(quick)
	time.Sleep(2 * c.topo.Medics.SuspectAfter)
	if now := c.Incarnation(id); now != before+1 || len(all) != 1 || all[0].Node != id || !clustertest.RestartedOnce(all[0]) {
		c.t.Errorf("M5: %s was incarnation %d and is %d, and the journal reports %+v", id, before, now, all)
	}
}

// TestRecoveryTable kills nodes of each kind under load and prints how long it takes until they work again.
func TestRecoveryTable(t *testing.T) {
	c := up(t)
	l := c.load(20000)
	table := c.RecoveryTable(func(id topology.NodeID) { c.signal(id, syscall.SIGKILL) }, *kills, "input-1", "joiner-1", "aggregator-1",
		"reducer-1", "output-1")
	t.Logf("%d analyses meanwhile, all answers right\n%s", l.End(), table)
}
