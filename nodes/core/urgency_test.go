package core

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
)

// TestUrgency: data may wait, replies to clients only briefly, and what changes the state of a session not at all.
func TestUrgency(t *testing.T) {
	d := newDriver(t, 1, "relay")
	d.commit()
	want := func(after string, h FlushUrgency) {
		t.Helper()
		if got := d.c.Urgency(); got != h {
			t.Errorf("after %s: urgency %d, want %d", after, got, h)
		}
		d.commit()
	}
	seq := link.Seq(0)
	frame := func(kind link.Kind, stream int, payload string) {
		seq++
		hear(d.c, link.Frame{Edge: "in", From: "a-1", ID: theirs, Seq: seq, Kind: kind, Session: sessionOf("s"), Stream: stream,
			Payload: []byte(payload)})
		d.c.Advance()
	}
	want("nothing", FlushNothing)
	frame(link.Open, 0, string(role.Announcement{Analysis: "test"}.Encode()))
	want("an open", FlushNow)
	frame(link.Data, 1, "kept")
	want("data", FlushLater)
	frame(link.Data, 1, strings.Repeat("x", d.c.cfg.Commit/2))
	want("half a commit of data", FlushNow)
	d.c.cfg.Window = 1000
	frame(link.Data, 1, strings.Repeat("x", d.c.cfg.Window/2))
	want("half of a small window", FlushNow)
	frame(link.Abort, 0, string(encodeAbort("because")))
	want("an abort", FlushNow)

	d = newDriver(t, 1, "gateway")
	d.commit()
	ask := func(verb string) {
		d.c.Request(time.Time{}, &role.Request{From: 7, Body: []byte("s " + verb)})
	}
	ask("open")
	want("open", FlushNow)
	ask("feed +word")
	want("a client's data", FlushSoon)
	for stream := range 2 {
		ask(fmt.Sprint("end ", stream))
		want("the end of a stream", FlushNow)
	}
}

// TestUrgencyCountsCSV: a chunk of CSV counts with its original size, not with the smaller size of what it is parsed to. Its clients have
// only a few chunks under way, so they would wait for a commit that is never full.
func TestUrgencyCountsCSV(t *testing.T) {
	d := newDriver(t, 1, "gateway")
	h := &host{d.c, 0}
	d.c.Request(time.Time{}, &role.Request{From: 7, Body: []byte("s open")})
	d.commit()
	chunk := &role.Chunk{File: "f", Data: make([]byte, d.c.cfg.Commit/4)}
	for range 2 {
		if got := d.c.Urgency(); got >= FlushNow {
			t.Fatalf("urgency %d before half a commit is taken", got)
		}
		if err := h.Feed(sessionOf("s"), role.Message{Stream: 1, Chunk: chunk, Payload: []byte("+a")}); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.c.Urgency(); got != FlushNow {
		t.Fatalf("urgency %d with half a commit of CSV", got)
	}
}

// TestReleasedRequests: large bodies of requests are released to the socket, once. Small ones are left to the garbage collector.
func TestReleasedRequests(t *testing.T) {
	d := newDriver(t, 1, "gateway")
	h := &host{d.c, 0}
	h.Release(make([]byte, minReleased))
	h.Release(make([]byte, minReleased-1))
	if n := len(d.c.Output(time.Time{}).ReleasedRequests); n != 1 {
		t.Fatalf("%d bodies are released, want the large one", n)
	}
	if n := len(d.c.Output(time.Time{}).ReleasedRequests); n != 0 {
		t.Fatalf("%d bodies are released twice", n)
	}
}
