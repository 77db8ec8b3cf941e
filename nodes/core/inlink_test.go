package core

import (
	"strings"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
)

// TestR11_HellosDoNotPileUp: while a link is held back, its sender repeats its hello. Only one of these hellos stays in the queue.
func TestR11_HellosDoNotPileUp(t *testing.T) {
	d := newDriver(t, 1, "joiner")
	key := linkKey{"facts", "a-1"}
	hello := func(to link.NodeID, sent link.Seq) link.Frame {
		return link.Frame{Edge: key.edge, From: key.from, ID: theirs, Kind: link.Hello, Payload: link.HelloPayload{To: to, Sent: sent}.Encode()}
	}
	fact := link.Frame{Edge: key.edge, From: key.from, ID: theirs, Seq: 1, Kind: link.Open, Session: sessionOf("s"),
		Payload: role.Announcement{Analysis: "test"}.Encode()}
	hear(d.c, fact)
	fact.Seq, fact.Kind, fact.Stream, fact.Payload = 2, link.Data, 1, []byte("+fact")
	hear(d.c, fact)
	d.c.Advance()
	for n := range link.Seq(1000) {
		hear(d.c, hello("me-1", 2+n), hello("somebody-else", 9999))
		d.c.Advance()
	}
	l := d.c.in[key]
	if n := len(l.queue) - l.head; n != 2 {
		t.Fatalf("%d frames wait, want the fact and one hello", n)
	}
	bytes := 0
	for _, f := range l.queue[l.head:] {
		bytes += f.Size()
	}
	if l.bytes != bytes {
		t.Fatalf("%d bytes are counted, there are %d", l.bytes, bytes)
	}
	if g, err := link.DecodeHello(l.queue[len(l.queue)-1].Payload); err != nil || g.Sent != 1001 {
		t.Fatalf("the last one says most: %+v, %v", g, err)
	}
}

// TestR9_AQueueIsBounded: a sender that keeps to its window never has more than two windows in the queue. Frames beyond that are dropped
// and asked for again later.
func TestR9_AQueueIsBounded(t *testing.T) {
	d := newDriver(t, 1, "relay")
	d.c.cfg.Window = 1 << 20
	l := d.c.in[linkKey{"in", "a-1"}]
	big := make([]byte, 1<<20)
	for seq := link.Seq(1); seq <= 100; seq++ {
		hear(d.c, link.Frame{Edge: "in", From: "a-1", ID: theirs, Seq: seq, Kind: link.Data, Session: sessionOf("s"), Payload: big})
	}
	if l.bytes > 3*d.c.cfg.Window+4096 { // two windows, and the last frame, which may exceed them
		t.Fatalf("%d bytes wait", l.bytes)
	}
	if d.c.Counters.Gaps == 0 {
		t.Fatal("nothing was dropped")
	}
	hear(d.c, link.Frame{Edge: "in", From: "stranger-1", Seq: 1, Kind: link.Data},
		link.Frame{Edge: "nowhere", From: "a-1", Seq: 1, Kind: link.Data})
	if d.c.Counters.Unknown != 2 {
		t.Fatal("strangers are heard")
	}
}

// TestR4_DropsAreCountedByLinkAndVerdict: each kind of frame that a link does not take is found again under the link and the verdict, and
// the last one in words.
func TestR4_DropsAreCountedByLinkAndVerdict(t *testing.T) {
	open := link.Frame{Edge: "in", From: "a-1", ID: theirs, Seq: 1, Kind: link.Open, Session: sessionOf("s"),
		Payload: role.Announcement{Analysis: "test"}.Encode()}
	with := func(change func(f *link.Frame)) link.Frame { f := open; change(&f); return f }
	for name, c := range map[string]struct {
		frame link.Frame
		edge  string
		v     link.Verdict
	}{
		"duplicate": {open, "in", link.Duplicate},
		"gap":       {with(func(f *link.Frame) { f.Seq = 7 }), "in", link.Gap},
		"zombie":    {with(func(f *link.Frame) { f.ID.Incarnation-- }), "in", link.Zombie},
		"unknown":   {with(func(f *link.Frame) { f.ID.LogID[0]++ }), "in", link.Unknown},
		"damaged":   {changed(open, func(f *link.Frame) { f.Payload[0] ^= 1 }), "in", link.Damaged},
		"stranger":  {with(func(f *link.Frame) { f.Edge = "nowhere" }), "", link.Unknown},
	} {
		d := newDriver(t, 1, "relay")
		hear(d.c, open)
		d.commit()
		d.c.DroppedFrames()
		if name == "damaged" {
			d.c.Receive([]link.Frame{c.frame, c.frame})
		} else {
			hear(d.c, c.frame, c.frame)
		}
		d.c.Advance()
		total := uint64(0)
		for _, l := range d.c.Drops() {
			for v, n := range l.Frames {
				if total += n; n > 0 && (l.Edge != c.edge || link.Verdict(v) != c.v || l.From != "" != (l.Edge != "")) {
					t.Errorf("%s: %d are counted as %s of edge %q from %q", name, n, link.Verdict(v), l.Edge, l.From)
				}
			}
		}
		last, frames := d.c.DroppedFrames()
		if total != 2 || frames != 2 || !strings.HasPrefix(last, c.v.String()+": frame ") || !strings.Contains(last, "from a-1") {
			t.Errorf("%s: %d are counted, %d reported, the last as %q", name, total, frames, last)
		}
		if _, frames := d.c.DroppedFrames(); frames != 0 {
			t.Errorf("%s: %d are reported twice", name, frames)
		}
	}
}
