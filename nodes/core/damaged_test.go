package core

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
)

// TestR18_DamagedFramesAreDroppedBeforeTheyAreBelieved: whichever bit has changed, no hwm moves, no peer is told that it is superseded, and
// no disk counts as lost. The frame is counted, reported, and asked for again.
func TestR18_DamagedFramesAreDroppedBeforeTheyAreBelieved(t *testing.T) {
	open := link.Frame{Edge: "in", From: "a-1", ID: theirs, Seq: 1, Kind: link.Open, Session: sessionOf("s"),
		Payload: role.Announcement{Analysis: "test"}.Encode()}
	hello := link.Frame{Edge: "in", From: "a-1", ID: theirs, Kind: link.Hello, Payload: link.HelloPayload{To: "me-1"}.Encode()}
	for name, f := range map[string]link.Frame{
		"payload":               changed(open, func(f *link.Frame) { f.Payload[len(f.Payload)-1] ^= 1 }),
		"number":                changed(open, func(f *link.Frame) { f.Seq, f.Kind = 1, link.End }),
		"incarnation":           changed(open, func(f *link.Frame) { f.ID.Incarnation-- }),
		"incarnation, absurd":   changed(open, func(f *link.Frame) { f.ID.Incarnation = 1 << 60 }),
		"log":                   changed(open, func(f *link.Frame) { f.ID.LogID[3]++ }),
		"hello's log":           changed(hello, func(f *link.Frame) { f.ID.LogID[3]++ }),
		"hello's floor":         changed(hello, func(f *link.Frame) { f.Payload = link.HelloPayload{To: "me-1", Floor: 9, Sent: 9}.Encode() }),
		"hello says superseded": changed(hello, func(f *link.Frame) { f.Payload = link.HelloPayload{To: "me-1", Superseded: 77}.Encode() }),
		"of another receiver":   open.Sealed("me-2"),
	} {
		d := newDriver(t, 1, "relay")
		d.c.cfg.ID.Life = 77
		d.commit()
		d.c.Output(d.now)
		before := d.c.in[linkKey{"in", "a-1"}].recv.Hwm()
		d.c.Receive([]link.Frame{f})
		d.commit()
		if d.c.Counters.Damaged != 1 || d.c.Counters.Refused != 0 || !strings.Contains(d.c.Refused(), "R18") {
			t.Errorf("%s: %+v", name, d.c.Counters)
		}
		after := d.c.in[linkKey{"in", "a-1"}].recv.Hwm()
		if after.ID != before.ID || after.Seq != before.Seq || len(d.c.sessions) != 0 || d.c.Retired() != "" {
			t.Errorf("%s: it had an effect: %+v, %d sessions, %s", name, after, len(d.c.sessions), d.c.Retired())
		}
		asked := false
		for _, a := range d.c.Output(d.now.Add(time.Second)).Acks {
			asked = asked || a.To == "a-1" && a.Resend
			if a.Superseded {
				t.Errorf("%s: the sender is told that it is superseded", name)
			}
		}
		if !asked {
			t.Errorf("%s: it is not asked for again", name)
		}
		hear(d.c, open)
		d.commit()
		if len(d.c.sessions) != 1 {
			t.Errorf("%s: the next copy is not taken", name)
		}
	}
}

// changed makes a frame with its checksum and then changes the frame.
func changed(f link.Frame, change func(*link.Frame)) link.Frame {
	f = f.Sealed("me-1")
	f.Payload = bytes.Clone(f.Payload)
	change(&f)
	return f
}

// TestR18_AFrameThatChangedInMemoryEndsTheProcess: its receiver would refuse the frame each time it is sent. The log still has the frame as
// it was made, so a new process can send it.
func TestR18_AFrameThatChangedInMemoryEndsTheProcess(t *testing.T) {
	d := newDriver(t, 1, "gateway")
	payload := []byte("word")
	d.c.frame(d.c.outboxes[0], link.Frame{Kind: link.Data, Session: sessionOf("s"), Payload: payload})
	d.commit()
	if n := len(frames(d.c.Output(d.now), link.Data)); n != 1 {
		t.Fatalf("%d frames leave", n)
	}
	payload[0] ^= 1
	d.c.Ack(link.Ack{Edge: "out", To: "me-1", Log: logOf("mine"), Receiver: "z-1", ID: theirs, Resend: true}, d.now)
	o := d.c.Output(d.now)
	if err := d.c.Err(); !errors.Is(err, link.ErrChanged) || !strings.Contains(err.Error(), "R18") || len(o.Sends) != 0 {
		t.Fatalf("%v, %d sends", err, len(o.Sends))
	}
}

// frames returns the frames of one kind from the frames that may leave.
func frames(o Output, kind link.Kind) (all []link.Frame) {
	for _, s := range o.Sends {
		for _, f := range s.Frames {
			if f.Kind == kind {
				all = append(all, f)
			}
		}
	}
	return all
}

// TestR18_AFrameThatChangedBeforeTheLogTookItIsNeverSent: the record's checksum is right and the frame's is wrong. No receiver has taken
// the frame, so the node retires the log, and its sessions fail with that reason.
func TestR18_AFrameThatChangedBeforeTheLogTookItIsNeverSent(t *testing.T) {
	d := newDriver(t, 1, "gateway")
	for range 3 {
		d.c.frame(d.c.outboxes[0], link.Frame{Kind: link.Data, Session: sessionOf("s"), Payload: []byte("word")})
		d.commit()
	}
	rec, err := record.Decode(d.disk[1])
	if err != nil {
		t.Fatal(err)
	}
	rec.Frames[0].Frame.Payload[0] ^= 1
	d.disk[1] = bytes.Join(rec.Encode(), nil)
	c := d.recovered(nil, 0, NewLogAnalysis(nil))
	if why := c.Retired(); !strings.Contains(why, "R18") || !strings.Contains(why, "record 2") {
		t.Fatalf("retired: %q", why)
	}
	if o := c.Output(d.now); len(o.Sends)+len(o.Acks) != 0 {
		t.Fatalf("it says something: %+v", o)
	}
}
