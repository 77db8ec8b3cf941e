package core

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// counter counts the calls that recovery repeats.
type counter struct {
	*adder
	calls map[string]int
}

func (c counter) Take(id session.ID, m role.Message, out role.Emitter) (bool, error) {
	c.calls[nameOf(id)]++
	return c.adder.Take(id, m, out)
}

func (c counter) Restore(id session.ID, data []byte) error {
	c.calls["restore "+nameOf(id)]++
	return c.adder.Restore(id, data)
}

// left returns the log of a relay. Before the snapshot, sessions s and t get words. After it, s ends, u begins and is aborted, and t
// continues. Frames up to the given number have been acknowledged by then.
func left(t *testing.T, acked link.Seq) (d *driver, snapshot []byte, at link.LogIndex) {
	return leftBy(t, "hash", acked)
}

func leftBy(t *testing.T, shape string, acked link.Seq) (d *driver, snapshot []byte, at link.LogIndex) {
	d = newDriver(t, 1, shape)
	for _, id := range []string{"s", "t"} {
		d.says(id, link.Open, 0, string(role.Announcement{Analysis: "test"}.Encode()))
		d.says(id, link.Data, 1, "one")
	}
	d.says("s", link.End, 0, "")
	d.commit()
	snapshot, at = d.c.Snapshot(), link.LogIndex(len(d.disk))
	d.says("s", link.Data, 1, "two")
	d.commit()
	d.says("s", link.End, 1, "")
	d.says("u", link.Open, 0, string(role.Announcement{Analysis: "test"}.Encode()))
	d.says("u", link.Data, 1, "three")
	d.commit()
	d.says("u", link.Abort, 0, string(encodeAbort("because")))
	d.says("t", link.Data, 1, "four")
	d.commit()
	for _, s := range d.c.out[0].outboxes {
		d.c.Ack(link.Ack{Edge: "out", To: "me-1", Log: logOf("mine"), Hwm: min(acked, s.Last()), Receiver: s.Peers()[0], ID: theirs}, d.now)
	}
	d.says("t", link.Data, 1, "five")
	d.commit()
	return d, snapshot, at
}

func (d *driver) says(id string, kind link.Kind, stream int, payload string) {
	k := d.c.inOrder[0].key()
	d.seq[k]++
	hear(d.c, link.Frame{
		Edge: k.edge, From: k.from, ID: theirs, Seq: d.seq[k], Session: sessionOf(id), Kind: kind, Stream: stream, Payload: []byte(payload),
	})
}

func TestN3_WhatHasLeftIsNotRepeated(t *testing.T) {
	d, snapshot, at := left(t, 0)
	calls := map[string]int{}
	own := d.cfg
	d.cfg = func() Config {
		cfg := own()
		cfg.Roles = []role.Role{counter{newAdder(), calls}}
		return cfg
	}
	d.same("with a analysis", d.recovered(snapshot, at, d.analysed()))
	if want := "map[restore t:1 t:2]"; fmt.Sprint(calls) != want {
		t.Errorf("with a analysis: calls %v, want %v", calls, want)
	}
	clear(calls)
	d.same("without", d.recovered(snapshot, at, NewLogAnalysis(nil)))
	if want := "map[restore s:1 restore t:1 s:1 t:2 u:1]"; fmt.Sprint(calls) != want {
		t.Errorf("without a analysis: calls %v, want %v", calls, want)
	}
}

// TestN3_WhatAGatewayHasRemovedIsNotRepeated: the calls of a session are repeated for a gateway as long as the gateway has something of it:
// while the session is open here, and until the gateway's own record says that it is gone. A later session with the same id is another one.
func TestN3_WhatAGatewayHasRemovedIsNotRepeated(t *testing.T) {
	removes := func(i int, payload []byte) (id session.ID, ok bool) {
		name, ok := strings.CutPrefix(string(payload), "gone-")
		return sessionOf(name), ok && i == 0
	}
	for _, c := range []struct{ name, script, want string }{
		{"kept", "open s; say s one; leave s", "s:one"},
		{"removed", "open s; say s one; leave s; gone s", ""},
		{"removed and still open", "open s; say s one; gone s", "s:one"},
		{"removed before it leaves", "open s; say s one; gone s; say s two; leave s", "s:two"},
		{"removed twice", "open s; say s one; gone s; say s two; leave s; gone s", ""},
		{"another is removed", "open s; open t; say s one; say t two; leave s; leave t; gone t", "s:one"},
		{"in one record", "together; open s; say s one; leave s; gone s", ""},
	} {
		d := newDriver(t, 1, "output")
		gateway := func(c *Core) *fakeGateway { return c.cfg.Roles[0].(*fakeGateway) }
		together := false
		for _, step := range strings.Split(c.script, "; ") {
			f := strings.Fields(step)
			switch f[0] {
			case "together":
				together = true
			case "open":
				d.says(f[1], link.Open, 0, string(role.Announcement{Analysis: "test"}.Encode()))
			case "say":
				d.says(f[1], link.Data, 1, f[2])
			case "leave":
				d.says(f[1], link.Abort, 0, string(encodeAbort("because")))
			case "gone":
				g := gateway(d.c)
				g.log = append(g.log, "gone-"+f[1])
				g.host.Record([]byte("gone-" + f[1]))
			}
			if d.c.Advance(); !together {
				d.commit()
			}
		}
		d.commit()
		analysis := NewLogAnalysis(removes)
		for i, rec := range d.disk {
			analysis.Add(link.LogIndex(i+1), rec)
		}
		back := d.recovered(nil, 0, analysis)
		d.same(c.name, back)
		if text := strings.Join(gateway(back).takes, " "); text != c.want {
			t.Errorf("%s: repeated are %q, want %q", c.name, text, c.want)
		}
		back = d.recovered(nil, 0, NewLogAnalysis(nil))
		d.same(c.name+", without", back)
		if all := gateway(back).takes; len(all) != strings.Count(c.script, "say") {
			t.Errorf("%s: without an analysis %q are repeated", c.name, all)
		}
	}
}

// TestN3_RecoveryBeginsWhereSomethingIsNeeded: recovery begins at the snapshot if every frame before it was acknowledged, otherwise at the
// first frame that was not.
func TestN3_RecoveryBeginsWhereSomethingIsNeeded(t *testing.T) {
	for acked, want := range map[link.Seq]link.LogIndex{0: 1, 1 << 40: 2} {
		d, snapshot, at := left(t, acked)
		c, err := New(d.cfg())
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Recover(snapshot, at, d.analysed())
		if err != nil {
			t.Fatal(err)
		}
		if r.First() != want {
			t.Errorf("%d frames acknowledged, snapshot %d: recovery begins with record %d, want %d", acked, at, r.First(), want)
		}
	}
}

func TestN3_LogAnalysisReportsWhatItCannotRead(t *testing.T) {
	d, snapshot, at := left(t, 0)
	s := d.analysed()
	s.Add(99, bytes.Repeat([]byte{0xff}, 40))
	if _, err := d.c.Recover(snapshot, at, s); err == nil {
		t.Fatal("a record that nobody can read is skipped")
	}
}

// TestN9_WhatIsGivenUpIsNotRebuilt: recovery restores and repeats nothing of a session that made the node die, or it would die of that
// session again. The session fails nevertheless, and the others continue.
func TestN9_WhatIsGivenUpIsNotRebuilt(t *testing.T) {
	for _, shape := range []string{"hash", "answers"} { // in a chain with a gateway, the gateway opens the session, and no other role has it
		t.Run(shape, func(t *testing.T) { testGivenUp(t, shape) })
	}
}

func testGivenUp(t *testing.T, shape string) {
	d, snapshot, at := leftBy(t, shape, 0)
	calls := map[string]int{}
	own := d.cfg
	d.cfg = func() Config {
		cfg := own()
		cfg.Roles[0] = counter{newAdder(), calls}
		return cfg
	}
	a := d.analysed()
	if open := openIn(t, a, snapshot, at); open != "t" {
		t.Errorf("open are %q", open)
	}
	a.GiveUp(sessionOf("t"))
	c := d.recovered(snapshot, at, a)
	if len(calls) != 0 {
		t.Errorf("calls %v", calls)
	}
	c.GiveUp(sessionOf("t"), "it died of it")
	if n := c.Sessions(); n != 0 || !c.Pending() {
		t.Errorf("%d sessions, something to store: %v", n, c.Pending())
	}
}

// openIn returns the names of the sessions that are open where a log ends.
func openIn(t *testing.T, a *LogAnalysis, snapshot []byte, at link.LogIndex) string {
	t.Helper()
	ids, err := a.Open(snapshot, at)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, id := range ids {
		names = append(names, nameOf(id))
	}
	return strings.Join(names, " ")
}

// TestN9_ASessionOfTheSnapshotIsOpen: a session of the snapshot is still open after the log was cut beyond its open, unless it has left
// since.
func TestN9_ASessionOfTheSnapshotIsOpen(t *testing.T) {
	d := newDriver(t, 1, "hash")
	for _, id := range []string{"s", "t"} {
		d.says(id, link.Open, 0, string(role.Announcement{Analysis: "test"}.Encode()))
		d.says(id, link.Data, 1, "one")
	}
	d.commit()
	snapshot, at := d.c.Snapshot(), link.LogIndex(len(d.disk))
	if open := openIn(t, NewLogAnalysis(nil), snapshot, at); open != "s t" {
		t.Errorf("in a log that was cut up to its snapshot %q are open", open)
	}
	d.says("s", link.Abort, 0, string(encodeAbort("because")))
	d.commit()
	behind := NewLogAnalysis(nil)
	behind.Add(at+1, d.disk[at])
	if open := openIn(t, behind, snapshot, at); open != "t" {
		t.Errorf("s has left behind the snapshot, and %q are open", open)
	}
	for n := range snapshot {
		if open, err := behind.Open(snapshot[:n:n], at); err == nil && (len(open) != 1 || open[0] != sessionOf("t")) {
			t.Errorf("the first %d bytes of the snapshot: %v", n, open)
		}
	}
}

// TestN9_ATakeoverOfASessionThatHasLeftDoesNotOpenIt: otherwise a node that dies for another reason would fail a session that has already
// ended here.
func TestN9_ATakeoverOfASessionThatHasLeftDoesNotOpenIt(t *testing.T) {
	d := newDriver(t, 1, "hash")
	announced := func(n int) string {
		openers := session.Openers{{'a'}, {'b'}}[:n]
		return string(role.Announcement{Analysis: "test", Openers: openers}.Encode())
	}
	d.says("s", link.Open, 0, announced(1))
	d.says("s", link.End, 0, "")
	d.commit()
	if open := openIn(t, d.analysed(), nil, 0); open != "s" {
		t.Errorf("before its end %q are open in the log", open)
	}
	d.says("s", link.End, 1, "")
	d.commit()
	d.says("s", link.TakeOver, 0, announced(2))
	d.commit()
	if gone, _ := d.c.tombstones.Get(sessionOf("s")); len(gone.Openers) != 2 {
		t.Fatalf("the takeover is not noted: %+v", gone)
	}
	if open := openIn(t, d.analysed(), nil, 0); open != "" {
		t.Errorf("open in the log are %q", open)
	}
}

// TestN3_AnIDThatIsUsedAgainHasItsOwnEnd: the tombstone of an id shows how the later session ended, even if recovery does not repeat the
// calls of that session.
func TestN3_AnIDThatIsUsedAgainHasItsOwnEnd(t *testing.T) {
	d := newDriver(t, 1, "hash")
	run := func(id, opener, why string) {
		d.says(id, link.Open, 0, string(role.Announcement{Analysis: "test",
			Openers: session.Openers{session.TokenHash([]byte(fmt.Sprintf("%-16s", opener)))}}.Encode()))
		d.says(id, link.Data, 1, "one")
		d.commit()
		d.says(id, link.Abort, 0, string(encodeAbort(why)))
		d.commit()
	}
	run("s", "ann", "because")
	for i := range role.Remembered { // an id is refused while it is remembered
		run(fmt.Sprintf("other %d", i), "ann", "another")
	}
	run("s", "bob", "therefore")
	if got, _ := d.c.tombstones.Get(sessionOf("s")); got.Reason != "therefore" {
		t.Fatalf("the session is over: %q", got.Reason)
	}
	d.same("with an analysis", d.recovered(nil, 0, d.analysed()))
	d.same("without", d.recovered(nil, 0, NewLogAnalysis(nil)))
}
