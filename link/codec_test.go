package link

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

func someFrame() Frame {
	return Frame{
		Edge: "input-joiner-facts", From: "input-1", ID: Identity{LogID: LogID{1, 2, 3}, Incarnation: 7, Life: 1 << 63}, Life: 77,
		Seq:  12345678901,
		Kind: Data, Session: session.ID{9, 8, 7}, Stream: 3, Payload: []byte("rows"),
	}
}

func TestFrame_ComesOutAsItWentIn(t *testing.T) {
	names := &Interner{}
	for _, f := range []Frame{
		someFrame(),
		{Edge: "e", From: "n-1", Seq: 1, Kind: Open, Payload: []byte{}},
		{Edge: "", From: "", Kind: Hello, Payload: HelloPayload{To: "b-1", Floor: 4, FloorLife: 7, Sent: 9, Log: LogID{3}, Acked: 4, Life: 7,
			Superseded: 1 << 63}.Encode()},
		{Edge: "e", From: "n-1", Seq: 2, Kind: TakeOver, Payload: []byte("again")},
		{Edge: "e", From: "n-1", Seq: 1<<64 - 1, Kind: Abort, Stream: maxStream, Payload: bytes.Repeat([]byte{0}, 70000)},
	} {
		got, err := DecodeFrame(names, f.AppendHeader(nil), f.Payload)
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%+v\ncomes back as %+v, %v", f, got, err)
		}
	}
}

func TestFrame_WhatNoNodeSendsIsRefused(t *testing.T) {
	bad := map[string]func(*Frame){
		"kind 0":                 func(f *Frame) { f.Kind = 0 },
		"kind beyond the last":   func(f *Frame) { f.Kind = TakeOver + 1 },
		"stream beyond the last": func(f *Frame) { f.Stream = maxStream + 1 },
		"data without a number":  func(f *Frame) { f.Seq = 0 },
		"hello with a number":    func(f *Frame) { f.Kind = Hello },
		"another payload":        func(f *Frame) { f.Payload = append(f.Payload, 'x') },
	}
	for name, change := range bad {
		f := someFrame()
		payload := f.Payload
		change(&f)
		if _, err := DecodeFrame(&Interner{}, f.AppendHeader(nil), payload); !errors.Is(err, ErrBadFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := someFrame()
	header := f.AppendHeader(nil)
	for n := range header {
		if _, err := DecodeFrame(&Interner{}, header[:n], f.Payload); !errors.Is(err, ErrBadFrame) {
			t.Errorf("the first %d bytes of a header: %v", n, err)
		}
	}
	if _, err := DecodeFrame(&Interner{}, append(header, 0), f.Payload); !errors.Is(err, ErrBadFrame) {
		t.Errorf("a byte behind the header: %v", err)
	}
}

func TestAck_ComesOutAsItWentIn(t *testing.T) {
	a := Ack{Edge: "e", To: "a-1", Log: LogID{4}, Hwm: 99, HwmLife: 1 << 63, Echo: 8, Resend: true, Receiver: "b-1",
		ID: Identity{LogID: LogID{5}, Incarnation: 6, Life: 9}, Superseded: true}
	got, err := DecodeAck(&Interner{}, a.Append(nil))
	if err != nil || got != a {
		t.Fatalf("%+v, %v", got, err)
	}
	b := a.Append(nil)
	for n := range b {
		if _, err := DecodeAck(&Interner{}, b[:n]); !errors.Is(err, ErrBadFrame) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
	short := wire.AppendArray(nil, ackFields)
	short = wire.AppendString(wire.AppendString(short, "e"), "a-1")
	short = wire.AppendBin(short, make([]byte, 15))
	short = append(short, b[len(short)+1:]...)
	if _, err := DecodeAck(&Interner{}, short); !errors.Is(err, ErrBadFrame) {
		t.Errorf("a log id of 15 bytes: %v", err)
	}
}

func TestHelloPayload_ComesOutAsItWentIn(t *testing.T) {
	g := HelloPayload{To: "joiner-12", Floor: 5, FloorLife: 1 << 63, Sent: 1 << 40, Log: LogID{1}, Acked: 4, Life: 3, Superseded: 2}
	if got, err := DecodeHello(g.Encode()); err != nil || got != g {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := DecodeHello([]byte("?")); !errors.Is(err, ErrBadFrame) {
		t.Fatalf("%v", err)
	}
}

// TestNames_AreBounded: a peer that makes names up must not fill the memory.
func TestNames_AreBounded(t *testing.T) {
	names := &Interner{}
	long := strings.Repeat("n", maxName+50)
	for i := range 3 * maxNames {
		b := wire.AppendString(nil, strings.Repeat("x", i%200)+string(rune('a'+i%26))+long[:i%maxName])
		r := wire.NewReader(b)
		readName(&r, names)
	}
	if len(names.seen) > maxNames {
		t.Fatalf("%d names are remembered", len(names.seen))
	}
	r := wire.NewReader(wire.AppendString(nil, long))
	if got := readName(&r, names); len(got) != maxName {
		t.Fatalf("a name of %d bytes is taken", len(got))
	}
}

func TestKind_IsNamed(t *testing.T) {
	if Abort.String() != "abort" || Kind(200).String() != "kind 200" {
		t.Fatal(Abort, Kind(200))
	}
	if (LogID{0xab, 0xcd}).String() != "abcd0000" {
		t.Fatal(LogID{0xab, 0xcd})
	}
}

func FuzzDecodeFrame(f *testing.F) {
	x := someFrame()
	f.Add(x.AppendHeader(nil), x.Payload)
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, header, payload []byte) {
		got, err := DecodeFrame(&Interner{}, header, payload)
		if err != nil {
			if !errors.Is(err, ErrBadFrame) {
				t.Fatal(err)
			}
			return
		}
		again, err := DecodeFrame(&Interner{}, got.AppendHeader(nil), payload)
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%+v was decoded, and comes back as %+v, %v", got, again, err)
		}
	})
}

func FuzzDecodeAck(f *testing.F) {
	a := Ack{Edge: "e", To: "a-1", Hwm: 99, Receiver: "b-1"}
	f.Add(a.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := DecodeAck(&Interner{}, b)
		if err != nil {
			return
		}
		if again, err := DecodeAck(&Interner{}, got.Append(nil)); err != nil || again != got {
			t.Fatalf("%+v comes back as %+v, %v", got, again, err)
		}
	})
}

func FuzzDecodeHello(f *testing.F) {
	f.Add(HelloPayload{To: "b-1", Floor: 4, FloorLife: 7, Sent: 9, Log: LogID{3}, Acked: 4, Life: 7, Superseded: 1 << 63}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := DecodeHello(b)
		if err != nil {
			return
		}
		if again, err := DecodeHello(got.Encode()); err != nil || again != got {
			t.Fatalf("%+v comes back as %+v, %v", got, again, err)
		}
	})
}
