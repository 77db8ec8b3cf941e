package core

import (
	"bytes"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
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
	at := link.LogIndex(len(d.disk))
	without := d.cfg()
	without.In[0].From, without.Out[0].To = []link.NodeID{"a-1"}, []link.NodeID{"z-1"}
	small := recoverFrom(t, without, d.c.Snapshot(), at)
	commit := small.Seal()
	if commit == nil {
		t.Fatal("nothing makes the next snapshot due, and the old one mentions of links that are gone")
	}
	small.Stored(commit, at+1)

	again := recoverFrom(t, d.cfg(), small.Snapshot(), at+1)
	if r := again.in[linkKey{"in", "a-2"}].recv; r.ID() != (link.Identity{}) {
		t.Errorf("a-2 is still known by log %v", r.ID())
	}
	for _, s := range again.out[0].outboxes {
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

func recoverFrom(t *testing.T, cfg Config, snapshot []byte, at link.LogIndex) *Core {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Recover(snapshot, at, NewLogAnalysis())
	if err == nil {
		err = r.Done()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Who comes back to the topology after records without it is sent to as if for the first time, whatever the log still says of its first
// time; and what it has not acknowledged since is still there at the next start.
func TestN3_WhoComesBackIsNew(t *testing.T) {
	for name, snapshot := range map[string]bool{"log": false, "snapshot": true} {
		d := newDriver(t, 1, "hash")
		both := d.cfg()
		alone := d.cfg()
		alone.Out[0].To = alone.Out[0].To[:1]
		var state []byte
		var at link.LogIndex
		restart := func(cfg Config) {
			d.cfg = func() Config { c := cfg; c.Roles = []role.Role{newAdder()}; return c }
			var err error
			if d.c, err = New(d.cfg()); err != nil {
				t.Fatal(err)
			}
			r, err := d.c.Recover(state, at, d.analysed())
			for i := range d.disk {
				if at := link.LogIndex(i + 1); err == nil && at >= r.First() {
					err = r.Replay(at, bytes.Clone(d.disk[i]))
				}
			}
			if err == nil {
				err = r.Done()
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		open := func(id string) {
			d.says(id, link.Open, 0, string(role.Announcement{Analysis: "test"}.Encode()))
			d.commit()
		}
		outbox := func() *outbox { return d.c.out[0].outboxes[1] }

		for _, id := range []string{"s", "t"} {
			open(id)
		}
		d.c.Ack(link.Ack{Edge: "out", To: "me-1", Log: logOf("mine"), Hwm: 2, Receiver: "z-2", ID: theirs}, d.now)
		open("u")
		restart(alone)
		open("v")
		if snapshot {
			state, at = d.c.Snapshot(), link.LogIndex(len(d.disk))
		}
		restart(both)
		if _, frames := outbox().Backlog(); outbox().Last() != 0 || frames != 0 || outbox().Progress().Acked[0].Log != (link.LogID{}) {
			t.Errorf("%s: %d frames were given out, %d wait, and the receiver is known: %+v", name, outbox().Last(), frames, outbox().Progress())
		}
		open("w")
		restart(both)
		if _, frames := outbox().Backlog(); outbox().Last() != 1 || frames != 1 {
			t.Errorf("%s: after the next start %d frames were given out and %d wait", name, outbox().Last(), frames)
		}
	}
}
