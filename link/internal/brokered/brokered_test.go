package brokered

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"posta.dev/posta/link"
)

func frame(seq link.Seq, size int) link.Frame {
	f := link.Frame{Edge: "a-b-all", From: "a-1", ID: link.Identity{LogID: link.LogID{1}, Incarnation: 1}, Seq: seq, Kind: link.Data}
	f.Payload = bytes.Repeat([]byte{byte(seq)}, size)
	return f
}

func frames(seqs ...link.Seq) (all []link.Frame) {
	for _, s := range seqs {
		all = append(all, frame(s, 10))
	}
	return all
}

func TestUnpackIsTheInverseOfPack(t *testing.T) {
	want := []link.Frame{frame(1, 0), frame(2, 1), frame(3, 1<<20)}
	got, err := unpack(&link.Interner{}, Pack(want))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d frames, %v", len(got), err)
	}
	for i := range got {
		if !bytes.Equal(got[i].Payload, want[i].Payload) {
			t.Errorf("payload %d differs", i)
		}
		got[i].Payload, want[i].Payload = nil, nil
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}

func TestUnpackRefusesEveryCut(t *testing.T) {
	msg := Pack(frames(1, 2, 3))
	whole := len(msg) / 3
	for cut := range msg {
		got, err := unpack(&link.Interner{}, msg[:cut])
		if cut > 0 && cut%whole == 0 {
			if err != nil || len(got) != cut/whole {
				t.Errorf("%d bytes: %d frames, %v", cut, len(got), err)
			}
			continue
		}
		if !errors.Is(err, errBadMessage) {
			t.Errorf("%d bytes: %v", cut, err)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(Pack(frames(1, 2)))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, msg []byte) {
		got, err := unpack(&link.Interner{}, msg)
		if (err == nil) != (len(got) > 0) {
			t.Errorf("%d frames, %v", len(got), err)
		}
	})
}

func TestR9_WaitingIsBounded(t *testing.T) {
	w := newSendQueue(3 * (100 + 96))
	all := []link.Frame{frame(1, 100), frame(2, 100), frame(3, 100), frame(4, 100)}
	if n := w.offer(all); n != 3 {
		t.Fatalf("took %d frames, has room for 3", n)
	}
	if got := w.Next(2 * 196); len(got) != 2 || got[0].Seq != 1 {
		t.Errorf("a batch of two is %d frames", len(got))
	}
	if n := w.offer(all[3:]); n != 1 {
		t.Error("there is room again, and nothing is taken")
	}
	if got := w.Next(0); len(got) != 1 || got[0].Seq != 3 {
		t.Errorf("without batches %d frames come at once", len(got))
	}
	w.Clear()
	if got := w.Next(1 << 20); got != nil || !w.Empty() {
		t.Error("something is left after Clear")
	}
	if n := w.offer([]link.Frame{frame(1, 10_000)}); n != 1 {
		t.Error("a frame larger than all room never leaves")
	}
}

func ack(log byte, hwm link.Seq) *link.Ack {
	return &link.Ack{Log: link.LogID{log}, Hwm: hwm, Receiver: "b-1"}
}

func TestR5_ADeliveryIsDoneWhenItsEffectIsOnDisk(t *testing.T) {
	l := newUnacked[int]()
	l.delivered(1, frames(1, 2))
	l.delivered(2, frames(3, 4))
	l.delivered(3, frames(5))
	for _, c := range []struct {
		ack  *link.Ack
		done []int
	}{{ack(1, 1), nil}, {ack(1, 2), []int{1}}, {ack(1, 4), []int{2}}, {ack(1, 4), nil}, {ack(1, 9), []int{3}}} {
		l.acked(c.ack)
		if got := l.TakeSettled(); !reflect.DeepEqual(got, c.done) {
			t.Errorf("at hwm %d settled are %v, want %v", c.ack.Hwm, got, c.done)
		}
	}
}

// TestUnackedDoesNotJam: deliveries that the receiver has dropped must not occupy the broker's prefetch for ever.
func TestUnackedDoesNotJam(t *testing.T) {
	zombie, other := frames(9), frames(1)
	zombie[0].ID.Incarnation, other[0].ID.LogID = 0, link.LogID{7}
	asks := ack(1, 2)
	asks.Resend = true
	for name, c := range map[string]struct {
		frames []link.Frame
		ack    *link.Ack
	}{
		"repetition": {frames(1, 2), ack(1, 2)}, "behind a hole": {frames(8), asks}, "an unknown log": {other, ack(1, 2)},
		"nobody knows the sender": {frames(1), ack(0, 0)}, "a zombie": {zombie, ack(1, 2)}, "rubbish": {nil, ack(1, 2)},
	} {
		l := newUnacked[string]()
		l.delivered("in front", frames(2))
		l.delivered(name, c.frames)
		l.acked(c.ack)
		if got := l.TakeSettled(); len(got) != 2 {
			t.Errorf("%s: settled are %v", name, got)
		}
	}
}

func TestHelloPacer_HellosBecomeRareWithoutNews(t *testing.T) {
	now := time.Unix(0, 0)
	said := func(g *helloPacer, d time.Duration) (n int) {
		for end := now.Add(d); now.Before(end); now = now.Add(100 * time.Millisecond) {
			if g.may(now) {
				n++
			}
		}
		return n
	}
	g := &helloPacer{}
	if first, later := said(g, time.Minute), said(g, time.Hour); first < 5 || later > 130 {
		t.Errorf("%d in the first minute, %d in an hour", first, later)
	}
	g.Heard(*ack(1, 1))
	if !g.may(now) {
		t.Error("news of the receiver, and no hello")
	}
	g.Heard(*ack(1, 1))
	if g.may(now) {
		t.Error("the same again is not news")
	}
	g.Connected()
	if !g.may(now) {
		t.Error("no hello over a new connection")
	}
}

func TestR6_TheLastAckOfALinkIsEnough(t *testing.T) {
	x := newPendingAcks()
	asks := *ack(1, 5)
	asks.Resend = true
	x.Put([]link.Ack{asks})
	x.Put([]link.Ack{*ack(1, 5)})
	if got := x.Take(); len(got) != 1 || !got[0].Resend {
		t.Errorf("a resend that was asked for is forgotten: %+v", got)
	}
	x.Put([]link.Ack{asks})
	x.Put([]link.Ack{*ack(1, 6)})
	if got := x.Take(); len(got) != 1 || got[0].Resend || got[0].Hwm != 6 || !x.Empty() {
		t.Errorf("got %+v", got)
	}
}
