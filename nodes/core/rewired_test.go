package core

import (
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/topology"
)

// TestR2_LinksThatAreGoneAreRemembered: while the topology is without a link, the snapshots of both ends keep what each knows of the other.
func TestR2_LinksThatAreGoneAreRemembered(t *testing.T) {
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
		t.Fatal("nothing says from when on the outbox to z-2 is given up")
	}
	small.Stored(commit, at+1)
	if smaller := recoverFrom(t, without, small.Snapshot(), at+1); smaller.Seal() != nil {
		t.Error("that is said at every start")
	}

	again := recoverFrom(t, d.cfg(), recoverFrom(t, without, small.Snapshot(), at+1).Snapshot(), at+1)
	key := linkKey{"in", "a-2"}
	if got, want := again.in[key].recv.Hwm(), d.c.in[key].recv.Hwm(); got.Seq == 0 || got.Seq != want.Seq || got.ID != want.ID {
		t.Errorf("of a-2 is known %+v, it was %+v", got, want)
	}
	was, is := d.c.outboxes[1].Progress(), again.outboxes[1].Progress()
	if was.Last == 0 || is.Last != was.Last+1 || is.Acked[0].Seq != is.Last || is.Acked[0].Here || is.Acked[0].Log != (link.LogID{}) {
		t.Errorf("the outbox of z-2 was %+v, and continues as %+v", was, is)
	}
	if again.Seal() != nil {
		t.Error("a node with new links has something to store before it has done anything")
	}
	if same := recoverFrom(t, d.cfg(), d.c.Snapshot(), at); same.Seal() != nil {
		t.Error("a node whose links are as they were has something to store")
	}
}

// TestR2_WhatComesBackContinues: the topology removes the link between a sender and a receiver for a while. When it is there again, its
// numbers continue, and neither end concludes that the other's log was set back. A session that the receiver still has from before fails,
// even if it waits for another sender, which never heard of it.
func TestR2_WhatComesBackContinues(t *testing.T) {
	t.Run("it waits for the sender", func(t *testing.T) { whoComesBackGoesOn(t, link.Data, []byte("kept")) })
	t.Run("it waits for another sender", func(t *testing.T) { whoComesBackGoesOn(t, link.End, nil) })
}

func whoComesBackGoesOn(t *testing.T, kind link.Kind, payload []byte) {
	sender, receiver := newDriver(t, 5, "gateway"), newDriver(t, 5, "relay") // this shape has two senders
	cfg := sender.cfg()
	cfg.Out[0] = OutEdge{Name: "in", To: []link.NodeID{"me-2"}, Streams: topology.AllStreams, Route: topology.Any}
	cfg.Self = "a-1"
	theirs := receiver.cfg()
	theirs.Self = "me-2"
	theirs.ID.LogID = logOf("theirs")
	from, to := recoverFrom(t, cfg, nil, 0), recoverFrom(t, theirs, nil, 0)
	talk := func() {
		for range 6 {
			sender.now = sender.now.Add(2 * from.cfg.Pace.Hello)
			exchange(t, from, to, sender.now)
		}
	}
	talk()
	from.frame(from.outboxes[0], link.Frame{Kind: link.Open, Session: sessionOf("s"), Payload: role.Announcement{Analysis: "test"}.Encode()})
	for stream := range 2 {
		from.frame(from.outboxes[0], link.Frame{Kind: kind, Session: sessionOf("s"), Stream: stream, Payload: payload})
	}
	talk()
	if from.outboxes[0].Last() != 3 || to.in[linkKey{"in", "a-1"}].recv.Hwm().Seq != 3 || to.sessions[sessionOf("s")] == nil {
		t.Fatal("the two do not talk")
	}

	// The sender runs without the receiver, and then with it again. Meanwhile the receiver was down.
	alone := cfg
	alone.Out = []OutEdge{cfg.Out[0]}
	alone.Out[0].To = []link.NodeID{"me-1"}
	small := recoverFrom(t, alone, from.Snapshot(), 1)
	small.Stored(small.Seal(), 2)
	cfg.ID.Incarnation, cfg.ID.Life = 3, 33
	from = recoverFrom(t, cfg, small.Snapshot(), 2)
	talk()
	from.frame(from.outboxes[0], link.Frame{Kind: link.Open, Session: sessionOf("t"), Payload: role.Announcement{Analysis: "test"}.Encode()})
	talk()
	for _, c := range []*Core{from, to} {
		if why := c.Retired(); why != "" {
			t.Errorf("%s retires: %s", c.cfg.Self, why)
		}
	}
	if got := to.in[linkKey{"in", "a-1"}].recv.Hwm().Seq; got != 5 || to.sessions[sessionOf("t")] == nil {
		t.Errorf("the next frame is number %d", got)
	}
	if why, _ := failed(t, to, "s"); !strings.Contains(why, "start the session again") {
		t.Errorf("the session of before: %q", why)
	}
}

// exchange carries all messages between two cores in both directions, and stores their commits.
func exchange(t *testing.T, from, to *Core, now time.Time) {
	t.Helper()
	for _, c := range []*Core{from, to} {
		c.Advance()
		if commit := c.Seal(); commit != nil {
			c.Stored(commit, 1)
		}
	}
	for _, s := range from.Output(now).Sends {
		to.Receive(s.Frames)
	}
	to.Advance()
	if commit := to.Seal(); commit != nil {
		to.Stored(commit, 1)
	}
	for _, a := range to.Output(now).Acks {
		from.Ack(a, now)
	}
}

func recoverFrom(t *testing.T, cfg Config, snapshot []byte, at link.LogIndex) *Core {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Recover(snapshot, at, NewLogAnalysis(nil))
	if err == nil {
		err = r.Done()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// withoutZ2 returns the configuration after the second receiver has left the topology.
func (d *driver) withoutZ2() func() Config {
	both := d.cfg
	return func() Config {
		cfg := both()
		cfg.Out[0].To = cfg.Out[0].To[:1]
		return cfg
	}
}

// TestN3_WhatComesBackGetsNothingOfBefore: a receiver returns to the topology after records were written without it. It gets no frame from
// before, even if the log still has some. The numbers continue, and a frame that the receiver has not acknowledged since is still there
// after the next start.
func TestN3_WhatComesBackGetsNothingOfBefore(t *testing.T) {
	for name, snapshot := range map[string]bool{"log": false, "snapshot": true} {
		d := newDriver(t, 1, "hash")
		both, alone := d.cfg, d.withoutZ2()
		var state []byte
		var at link.LogIndex
		restart := func(cfg func() Config) {
			d.cfg = cfg
			d.c = d.restarted(state, at, d.analysed())
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
		if _, frames := outbox().Backlog(); outbox().Last() != 4 || frames != 0 || outbox().Progress().Acked[0].Log != (link.LogID{}) {
			t.Errorf("%s: %d frames were given out, %d wait, and the receiver is known: %+v", name, outbox().Last(), frames, outbox().Progress())
		}
		open("w")
		restart(both)
		if _, frames := outbox().Backlog(); outbox().Last() != 5 || frames != 1 {
			t.Errorf("%s: after the next start %d frames were given out and %d wait", name, outbox().Last(), frames)
		}
	}
}

// TestR12_WhatADepartedReceiverLacksFails: a session has left a node, and the topology continues without a receiver that lacks a part of
// that session. The session fails on this node, once, and everywhere else, because the topology may be changed back before any other node
// has started under the new one. A session that the receiver has completely continues.
func TestR12_WhatADepartedReceiverLacksFails(t *testing.T) {
	for _, name := range []string{"hash", "broadcast"} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, 1, name)
			both, alone := d.cfg, d.withoutZ2()
			passes := func(id string, receivers ...link.NodeID) {
				d.says(id, link.Open, 0, string(role.Announcement{Analysis: "test"}.Encode()))
				d.says(id, link.End, 0, "")
				d.says(id, link.End, 1, "")
				d.commit()
				for _, z := range receivers {
					d.c.Ack(link.Ack{Edge: "out", To: "me-1", Log: logOf("mine"), Hwm: d.c.outboxes[0].Last(), Receiver: z, ID: theirs}, d.now)
				}
			}
			passes("s", "z-1", "z-2")
			passes("t", "z-1")
			passes("u") // stores the acknowledgements

			d.cfg = alone
			d.c = d.restarted(nil, 0, d.analysed())
			if why, told := failed(t, d.c, "s"); why != "" || told {
				t.Errorf("z-2 had all of the first session, and it fails: %q", why)
			}
			for _, id := range []string{"t", "u"} {
				if why, told := failed(t, d.c, id); !strings.Contains(why, "z-2") || !strings.Contains(why, "start the session again") || !told {
					t.Errorf("session %s: %q, passed on: %v", id, why, told)
				}
			}
			d.commit()
			if d.restarted(nil, 0, d.analysed()).Seal() != nil {
				t.Error("that is said at every start")
			}
			d.cfg = both
			if d.restarted(nil, 0, d.analysed()).Seal() != nil {
				t.Error("it is said again when the receiver is back")
			}
		})
	}
}
