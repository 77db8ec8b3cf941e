package medics

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/medic/core"
	"posta.dev/posta/topology"
)

func (c *cluster) kill(ids ...topology.NodeID) {
	c.t.Helper()
	c.Strike(func(id topology.NodeID) { c.signal(id, syscall.SIGKILL) }, ids...)
}

func TestM5_WhatIsKilledOrHangsComesBackOnce(t *testing.T) {
	c := up(t, nil)
	// One election, or one for each medic if the machine stood still while they started.
	if g := int(c.Generation()); g > len(c.topo.MedicNodes()) {
		t.Errorf("M2: all started at once, and %d elections", g)
	}
	l := c.load(30000)
	for _, id := range []topology.NodeID{"input-1", "joiner-2", "aggregator-1", "reducer-1", "output-1"} {
		c.kill(id)
	}
	c.killLeaders()
	c.hang("joiner-1")
	c.hang(c.Followers()[0])
	if n := l.End(); n < 2 {
		t.Errorf("%d analyses only", n)
	}
}

func (c *cluster) killLeaders() {
	generation := c.Generation()
	c.kill(c.Leader())
	if now := c.Generation(); now != generation+1 {
		c.t.Errorf("M3: generation %d after the death of the leader of %d", now, generation)
	}
	c.kill(c.Leader(), "aggregator-2")
	c.kill(c.Leader(), c.Followers()[0])
}

// hang stops a process for good: medics have to kill it, so that it never wakes.
func (c *cluster) hang(id topology.NodeID) {
	c.t.Helper()
	var pid int
	c.Strike(func(id topology.NodeID) { pid = c.signal(id, syscall.SIGSTOP) }, id)
	if !gone(pid) {
		c.t.Errorf("M5: process %d of %s hangs on beside its successor", pid, id)
	}
}

// A leader that is stopped during an election wakes as a follower, or not at all: because it was silent, the new leader
// has it killed.
func TestM4_ALeaderThatSleptDoesNotLeadAgain(t *testing.T) {
	c := up(t, nil)
	old, since := c.Leader(), time.Now()
	pid := c.signal(old, syscall.SIGSTOP)
	c.Until("another one leads", func() bool { return c.Leader() != old })
	_ = syscall.Kill(pid, syscall.SIGCONT) // it may be dead already
	// The old leader follows in its old life if the new one hears it before it has it killed.
	c.Until("all follow the new leader", func() bool {
		return c.Agree() && !slices.ContainsFunc(c.Incidents(since), func(i core.Incident) bool { return i.Open })
	})
	time.Sleep(2 * c.topo.Medics.SuspectAfter)
	for _, i := range c.Incidents(since) {
		if i.Node != old || i.Restarts > 1 {
			t.Errorf("M4: somebody was restarted by the old leader: %+v", i)
		}
	}
	if now := c.Leader(); now == old {
		t.Errorf("%s leads again", old)
	}
}

// A node that cannot start is tried again after longer and longer pauses, and comes back when the cause is gone.
func TestM5_ACrashLoopBacksOffAndEnds(t *testing.T) {
	c := up(t, nil)
	since := time.Now()
	dir := filepath.Join(c.topo.DataDir, "joiner-2")
	aside := dir + ".aside"
	if err := os.Rename(dir, aside); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.signal("joiner-2", syscall.SIGKILL)
	c.Until("five failures in a row", func() bool {
		all := c.Incidents(since)
		return len(all) == 1 && all[0].InARow >= 5
	})
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(aside, dir); err != nil {
		t.Fatal(err)
	}
	c.Until("it is back", func() bool { all := c.Incidents(since); return len(all) == 1 && !all[0].Open })
	c.PausesGrow("joiner-2")
	for _, i := range c.Incidents(since) {
		if i.Node != "joiner-2" {
			t.Errorf("somebody else fell ill: %+v", i)
		}
	}
}

// While one medic lives, everything comes back (M7).
func TestM7_OneMedicBringsAllNodesBack(t *testing.T) {
	c := up(t, nil)
	spared := c.Followers()[0]
	var ids []topology.NodeID
	for _, n := range c.topo.All() {
		if n.ID != spared {
			ids = append(ids, n.ID)
		}
	}
	c.kill(ids...)
}

func TestNoNodeIsSuspectedUnderLoad(t *testing.T) {
	c := up(t, underLoad())
	since, generation := time.Now(), c.Generation()
	l := c.load(200000)
	time.Sleep(max(*quiet, 5*time.Second))
	if n := l.End(); n == 0 {
		t.Error("no analysis was done")
	}
	if told := c.Incidents(since); len(told) > 0 || c.Generation() != generation {
		t.Errorf("M6: nothing happened, and the journal reports %+v, generation %d", told, c.Generation())
	}
}
