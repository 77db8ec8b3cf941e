package link

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestR7_EntriesSurviveTheirArray adds and acknowledges entries at random, so that they move within their array and into larger ones. After
// each reconnect the sender must send all unacknowledged frames, in order, and nothing else.
func TestR7_EntriesSurviveTheirArray(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	self, other := Identity{LogID: LogID{1}, Incarnation: 1}, Identity{LogID: LogID{2}, Incarnation: 1}
	s := NewSender(toB, self, 1<<30, "b")
	acked := Seq(0)
	for step := range 3000 {
		for range rng.IntN(40) {
			s.Add(Frame{Kind: Data, Payload: []byte{byte(s.Last() + 1)}})
		}
		s.Stored(s.Last(), LogIndex(step))
		if rng.IntN(3) > 0 && s.Last() > acked {
			acked += 1 + Seq(rng.IntN(int(s.Last()-acked)))
		}
		s.Connected("b")
		s.Ack(Ack{Edge: "e", To: "a", Log: self.LogID, Hwm: acked, Receiver: "b", ID: other}, time.Time{})
		frames := s.Take("b", 1<<30)
		if len(frames) != int(s.Last()-acked) {
			t.Fatalf("step %d: %d frames are left, want %d", step, len(frames), s.Last()-acked)
		}
		for i, f := range frames {
			if want := acked + Seq(i) + 1; f.Seq != want || len(f.Payload) != 1 || f.Payload[0] != byte(want) {
				t.Fatalf("step %d: frame %d with payload %v in place of %d", step, f.Seq, f.Payload, want)
			}
		}
	}
	if cap(s.entries) > 4096 {
		t.Errorf("room for %d entries, though there were never more than some hundred", cap(s.entries))
	}
}
