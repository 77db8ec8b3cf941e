package core

import (
	"testing"

	"posta/link"
)

// A node that left the topology and comes back later comes with another log, and has lost nothing by it: what was known of the old one is
// forgotten as soon as the topology goes without it, and for good.
func TestN3_LinksThatAreGoneAreForgotten(t *testing.T) {
	d := newDriver(t, 3, "relay")
	for range 60 {
		d.send()
		d.commit()
		d.acknowledge()
	}
	at := link.Place(len(d.disk))
	without := d.cfg()
	without.In[0].From, without.Out[0].To = []link.NodeID{"a-1"}, []link.NodeID{"z-1"}
	small := recoverFrom(t, without, d.c.Snapshot(), at)
	commit := small.Seal()
	if commit == nil {
		t.Fatal("nothing makes the next snapshot due, and the old one tells of links that are gone")
	}
	small.Stored(commit, at+1)

	again := recoverFrom(t, d.cfg(), small.Snapshot(), at+1)
	if r := again.in[linkKey{"in", "a-2"}].recv; r.ID() != (link.Identity{}) {
		t.Errorf("a-2 is still known by log %v", r.ID())
	}
	for _, s := range again.out[0].senders {
		p := s.Progress()
		if known := p.Acked[0].Log != (link.LogID{}); known != (p.Acked[0].Node == "z-1") {
			t.Errorf("%s is known: %v", p.Acked[0].Node, known)
		}
	}
	if again.Seal() != nil {
		t.Error("a node with new links has something to store before it has done anything")
	}
	if same := recoverFrom(t, d.cfg(), d.c.Snapshot(), at); same.Seal() != nil {
		t.Error("a node whose links are as they were has something to store")
	}
}

func recoverFrom(t *testing.T, cfg Config, snapshot []byte, at link.Place) *Core {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Recover(snapshot, at, NewSurvey())
	if err == nil {
		err = r.Done()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}
