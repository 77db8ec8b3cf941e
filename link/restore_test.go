package link

import (
	"reflect"
	"testing"
)

// reload brings a new sender to the state of another one: its progress, and the frames from the given number on.
func reload(t *testing.T, p Progress, first, last Seq, to ...NodeID) *Sender {
	t.Helper()
	s := NewSender(toB, Identity{LogID: logA.LogID, Incarnation: 2}, plenty, to...)
	s.Restore(p)
	for seq := first; seq <= last; seq++ {
		if err := s.Reload(s.made(Frame{Edge: "e", From: "a-1", Seq: seq, Kind: Data, Payload: []byte("rows")}), LogIndex(seq)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Restored(p.Last, p.Life); err != nil {
		t.Fatal(err)
	}
	return s
}

// made returns a frame as the log has it.
func (s *Sender) made(f Frame) Frame {
	f.Sum = s.sums.content(&f)
	return f
}

func TestN3_UnacknowledgedFramesComeBackFromTheLog(t *testing.T) {
	p := Progress{Edge: "e", Last: 6, Acked: []Acked{{Node: "b-1", Seq: 4, Log: self.LogID}, {Node: "b-2", Seq: 2, Log: self.LogID}}}
	s := reload(t, p, 1, 6, "b-1", "b-2")
	if at, ok := s.Oldest(); !ok || at != 3 {
		t.Fatalf("oldest %d %v, b-2 lacks 3", at, ok)
	}
	if got := s.Progress(); !reflect.DeepEqual(got, p) {
		t.Fatalf("%+v", got)
	}
	s.Ack(Ack{Edge: "e", Log: logA.LogID, Hwm: 4, Receiver: "b-1", ID: self}, noon)
	expect(t, "b-1 continues", s.Take("b-1", plenty), 5, 6)
	s.Ack(Ack{Edge: "e", Log: logA.LogID, Hwm: 2, Receiver: "b-2", ID: self}, noon)
	out := s.Take("b-2", plenty)
	expect(t, "b-2 continues", out, 3, 4, 5, 6)
	if out[0].ID != (Identity{LogID: logA.LogID, Incarnation: 2}) {
		t.Fatalf("frames leave under the present incarnation, not %v", out[0].ID)
	}
	size := out[0].Size()
	if got := s.WindowLeft(); got != plenty-4*size {
		t.Fatalf("room %d after recovery", got)
	}
}

func TestR2_NumbersContinueAfterARestart(t *testing.T) {
	p := Progress{Last: 9, Acked: []Acked{{Node: "b-1", Seq: 9, Log: self.LogID}}}
	s := reload(t, p, 1, 0, "b-1")
	if f := s.Add(Frame{Kind: Data}); f.Seq != 10 {
		t.Fatalf("frame %d follows 9", f.Seq)
	}
}

// TestN3_ALogThatWasCutAfterTheSnapshot: frames that the snapshot does not know to be acknowledged were acknowledged, or the log would not
// have been cut.
func TestN3_ALogThatWasCutAfterTheSnapshot(t *testing.T) {
	p := Progress{Last: 9, Acked: []Acked{{Node: "b-1", Seq: 3, Log: self.LogID}}}
	s := reload(t, p, 7, 11, "b-1")
	if at, ok := s.Oldest(); !ok || at != 7 || s.Last() != 11 {
		t.Fatal(at, ok, s.Last())
	}
	if s = reload(t, p, 1, 0, "b-1"); s.Last() != 9 {
		t.Fatalf("everything was cut, and %d follows 9 (R2)", s.Last()+1)
	}
	if f := s.Add(Frame{Kind: Data, Payload: []byte("rows")}); s.WindowLeft() != plenty-f.Size() {
		t.Fatalf("room %d", s.WindowLeft())
	}
}

func TestR2_AHoleInTheLogIsAnError(t *testing.T) {
	s := NewSender(toB, logA, plenty, "b-1")
	if err := s.Reload(s.made(Frame{Seq: 1}), 1); err != nil {
		t.Fatal(err)
	}
	if s.Reload(s.made(Frame{Seq: 3}), 3) == nil {
		t.Fatal("frame 2 is missing, and nobody minds")
	}
	if s.Restored(4, 0) == nil {
		t.Fatal("frames 2 to 4 are missing, and nobody minds")
	}
}

func TestR8_TheReceiversLogIsDurable(t *testing.T) {
	s := reload(t, Progress{Last: 2, Acked: []Acked{{Node: "b-1", Seq: 2, Log: self.LogID}}}, 1, 0, "b-1")
	if s.lost(Ack{Edge: "e", Receiver: "b-1", ID: logB}) == nil {
		t.Fatal("the receiver lost its disk while this node was away, and nobody notices")
	}
}

func TestAcknowledged_FromARecord(t *testing.T) {
	s := reload(t, Progress{}, 1, 5, "b-1")
	s.Acknowledged(Acked{Node: "b-1", Seq: 3, Log: self.LogID})
	s.Acknowledged(Acked{Node: "b-1", Seq: 2, Log: self.LogID})
	s.Acknowledged(Acked{Node: "c-9", Seq: 5, Log: self.LogID})
	if _, frames := s.Backlog(); frames != 2 {
		t.Fatalf("%d frames are left", frames)
	}
	if s.Sendable() {
		t.Fatal("the receiver was not heard yet")
	}
	s.Connected("b-1")
	s.Ack(Ack{Edge: "e", Log: logA.LogID, Hwm: 3, Receiver: "b-1", ID: self}, noon)
	if !s.Sendable() {
		t.Fatal("frames 4 and 5 wait")
	}
}
