package core

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
)

// TestR5_OnlyUnrecordedPayloadsAreReleased: a payload that a commit still has to store, or that a role keeps, must not be overwritten. The
// payload of folded data may be. Small payloads are never released, because they share memory with others.
func TestR5_OnlyUnrecordedPayloadsAreReleased(t *testing.T) {
	d := newDriver(t, 1, "relay")
	word := strings.Repeat("w", minReleased)
	frames := []link.Frame{
		{Kind: link.Hello, Payload: link.HelloPayload{To: "me-1"}.Encode()},
		{Seq: 1, Kind: link.Open, Payload: role.Announcement{Analysis: "test"}.Encode()},
		{Seq: 2, Kind: link.Data, Stream: 1, Payload: []byte(word)},       // recorded
		{Seq: 3, Kind: link.Data, Stream: 1, Payload: []byte("+" + word)}, // folded
		{Seq: 4, Kind: link.Data, Stream: 1, Payload: []byte("+small")},
		{Seq: 5, Kind: link.Data, Stream: 1, Payload: []byte("+" + word + "2")},
		{Seq: 3, Kind: link.Data, Stream: 1, Payload: []byte("+" + word)}, // a duplicate
	}
	for i := range frames {
		f := &frames[i]
		f.Edge, f.From, f.ID = "in", "a-1", theirs
		if f.Kind != link.Hello {
			f.Session = sessionOf("s")
		}
	}
	hear(d.c, frames...)
	d.c.Advance()
	released := d.c.Output(time.Time{}).Released
	if len(released) != 2 || !bytes.Equal(released[0], frames[3].Payload) || !bytes.Equal(released[1], frames[5].Payload) {
		t.Fatalf("%d payloads are released, want the two large ones that were folded", len(released))
	}
	if again := d.c.Output(time.Time{}).Released; len(again) != 0 {
		t.Fatalf("%d payloads are released twice", len(again))
	}
}
