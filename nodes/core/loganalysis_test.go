package core

import (
	"bytes"
	"fmt"
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

// left is the log of a relay: before the snapshot sessions s and t have words, behind it s ends, u comes and is aborted, t goes on.
// Frames up to the given number are acknowledged by then.
func left(t *testing.T, acked link.Seq) (d *driver, snapshot []byte, at link.LogIndex) {
	d = newDriver(t, 1, "hash")
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
	d.says("u", link.Abort, 0, string(encodeOutcome(role.Outcome{Failed: true, Reason: "because"})))
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
	d.c.Receive([]link.Frame{{
		Edge: k.edge, From: k.from, ID: theirs, Seq: d.seq[k], Session: sessionOf(id), Kind: kind, Stream: stream, Payload: []byte(payload),
	}})
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
	d.same("without", d.recovered(snapshot, at, NewLogAnalysis()))
	if want := "map[restore s:1 restore t:1 s:1 t:2 u:1]"; fmt.Sprint(calls) != want {
		t.Errorf("without a analysis: calls %v, want %v", calls, want)
	}
}

// TestN3_RecoveryBeginsWhereSomethingIsNeeded: at the snapshot when all before it was acknowledged, else at the first frame
// that was not.
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
		t.Fatal("a record that nobody can read is passed over")
	}
}
