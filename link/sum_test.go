package link

import (
	"bytes"
	"errors"
	"testing"

	"posta.dev/posta/protocol/session"
)

var facts = Link{Edge: "input-joiner-facts", From: "input-1", To: "joiner-1"}

// onTheWire returns a frame as a sender of the facts edge sends it, and its hello.
func onTheWire(t *testing.T) (data, hello Frame) {
	t.Helper()
	s := NewSender(facts, lived(1, 2, 3), plenty, "joiner-1")
	f := s.Add(Frame{Kind: Data, Session: session.ID{9, 8, 7}, Stream: 3, Payload: []byte("rows")})
	s.Stored(f.Seq, 1)
	hello, ok := s.Hello("joiner-1", noon, pace.Hello)
	s.Ack(Ack{Edge: facts.Edge, To: facts.From, Log: s.id.LogID, Echo: s.id.Life, Receiver: "joiner-1", ID: self}, noon)
	frames := s.Take("joiner-1", plenty)
	if !ok || len(frames) != 1 {
		t.Fatal(ok, frames)
	}
	return frames[0], hello
}

// TestR18_EveryBitCounts: any changed bit of a frame, its header, or its hello is detected.
func TestR18_EveryBitCounts(t *testing.T) {
	data, hello := onTheWire(t)
	for _, f := range []Frame{data, hello} {
		if !NewReceiver(facts).Intact(&f) {
			t.Fatalf("%s: it is not intact as it is", f.Kind)
		}
		header := f.AppendHeader(nil)
		for bit := range 8 * (len(header) + len(f.Payload)) {
			h, p := bytes.Clone(header), bytes.Clone(f.Payload)
			if at := bit / 8; at < len(h) {
				h[at] ^= 1 << (bit % 8)
			} else {
				p[at-len(h)] ^= 1 << (bit % 8)
			}
			got, err := DecodeFrame(&Interner{}, h, p)
			if err == nil && got.Edge == facts.Edge && got.From == facts.From && NewReceiver(facts).Intact(&got) {
				t.Errorf("%s: bit %d of %d changes, and %+v is intact", f.Kind, bit, 8*(len(header)+len(p)), got)
			}
		}
	}
}

// TestR18_AFrameOfAnotherLink: a message that a broker or a proxy delivers to another link does not count as intact there, whatever its
// header says.
func TestR18_AFrameOfAnotherLink(t *testing.T) {
	data, hello := onTheWire(t)
	for _, l := range []Link{
		{Edge: "input-joiner-reference", From: facts.From, To: facts.To},
		{Edge: facts.Edge, From: "input-2", To: facts.To},
		{Edge: facts.Edge, From: facts.From, To: "joiner-2"},
		{Edge: facts.Edge, From: facts.From},
	} {
		for _, f := range []Frame{data, hello} {
			f.Edge, f.From = l.Edge, l.From
			if NewReceiver(l).Intact(&f) {
				t.Errorf("a %s of %v is intact on %v", f.Kind, facts, l)
			}
		}
	}
}

// TestR18_DamagedIsAskedForAgain: whatever the damaged frame claims to be, the missing frame is sent again.
func TestR18_DamagedIsAskedForAgain(t *testing.T) {
	s, r := pipe(t)
	s.add(2)
	s.Stored(6, 1)
	for _, f := range s.Take("b-1", plenty) {
		if f.Seq == 5 {
			f.Payload = []byte("raws")
		}
		if !r.Intact(&f) {
			r.Dropped(Damaged, f.ID)
		} else if v := r.Check(&f); v != Gap {
			t.Fatalf("frame %d without the one before it: %d", f.Seq, v)
		} else {
			r.Dropped(v, f.ID)
		}
	}
	a, ok := r.Ack("b-1", receiverLog, noon.Add(pace.Ask), pace)
	if !ok || a.Hwm != 4 || !a.Resend {
		t.Fatalf("%+v", a)
	}
	s.lost(a)
	again := s.Take("b-1", plenty)
	expect(t, "they come again", again, 5, 6)
	if !r.Intact(&again[0]) || r.Check(&again[0]) != Take {
		t.Fatal("the second copy is not taken")
	}
}

// TestR18_WhatChangedHereIsNotSentAgain: a receiver would refuse it each time.
func TestR18_WhatChangedHereIsNotSentAgain(t *testing.T) {
	s := ready(plenty, "b-1")
	payload := []byte("rows")
	s.add(1)
	s.Add(Frame{Kind: Data, Payload: payload})
	s.add(1)
	s.Stored(3, 1)
	payload[0] ^= 1
	expect(t, "the receiver finds out", s.Take("b-1", plenty), 1, 2, 3)
	s.hears("b-1", 0, true)
	expect(t, "it stops before the one that changed", s.Take("b-1", plenty), 1)
	if err := s.Err(); !errors.Is(err, ErrChanged) {
		t.Fatal(err)
	}
	expect(t, "and for good", s.Take("b-1", plenty))
}

// TestR18_WhatChangedBeforeTheLogTookItIsNotReloaded: the log's own checksum includes the changed bits.
func TestR18_WhatChangedBeforeTheLogTookItIsNotReloaded(t *testing.T) {
	s := NewSender(toB, logA, plenty, "b-1")
	f := s.made(Frame{Edge: "e", From: "a-1", Seq: 1, Life: 5, Kind: Data, Payload: []byte("rows")})
	for name, change := range map[string]func(*Frame){
		"payload": func(f *Frame) { f.Payload = []byte("raws") },
		"session": func(f *Frame) { f.Session[3]++ },
		"stream":  func(f *Frame) { f.Stream++ },
		"kind":    func(f *Frame) { f.Kind = End },
		"life":    func(f *Frame) { f.Life++ },
		"sum":     func(f *Frame) { f.Sum++ },
	} {
		bad := f
		change(&bad)
		if err := s.Reload(bad, 1); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Reload(f, 1); err != nil {
		t.Fatal(err)
	}
}

// TestR18_AnAcknowledgementIsCovered: its checksum matters, because a sender forgets what is acknowledged.
func TestR18_AnAcknowledgementIsCovered(t *testing.T) {
	a := Ack{Edge: "e", To: "a-1", Log: LogID{4}, Hwm: 99, HwmLife: 1 << 63, Echo: 8, Resend: true, Receiver: "b-1", ID: lived(5, 6, 9)}
	b := a.Append([]byte("before"))[len("before"):]
	for bit := range 8 * len(b) {
		c := bytes.Clone(b)
		c[bit/8] ^= 1 << (bit % 8)
		if got, err := DecodeAck(&Interner{}, c); err == nil {
			t.Errorf("bit %d changes, and %+v is believed", bit, got)
		}
	}
}

// BenchmarkR18 measures the cost of a frame's checksum on one side.
func BenchmarkR18(b *testing.B) {
	for _, size := range []int{0, 1 << 10, 64 << 10, 1 << 20} {
		b.Run(byteSize(size), func(b *testing.B) {
			s, f := newSums(facts), Frame{Kind: Data, Seq: 7, Payload: make([]byte, size)}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				f.Sum = s.content(&f)
			}
		})
	}
}

func byteSize(n int) string {
	switch {
	case n >= 1<<20:
		return "1MiB"
	case n >= 64<<10:
		return "64KiB"
	case n > 0:
		return "1KiB"
	}
	return "empty"
}
