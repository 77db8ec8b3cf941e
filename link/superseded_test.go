package link

import (
	"slices"
	"testing"
)

// another returns an opening of a log of its own.
func another(n byte) Identity {
	return Identity{LogID: LogID{0xf, n}, Incarnation: 1, Life: 100 + Life(n)}
}

// TestR8_EachOfSeveralLostLogsIsAZombie: also after a restart, and even when more logs were lost than are remembered: then the latest ones
// are.
func TestR8_EachOfSeveralLostLogsIsAZombie(t *testing.T) {
	for _, lost := range []byte{2, maxSuperseded, maxSuperseded + 3} {
		r := greeted(another(0), 0)
		for n := range lost {
			r.hello(another(n+1), HelloPayload{To: "b-1"})
		}
		again := NewReceiver(toB)
		again.Restore(r.Hwm())
		for at, r := range []*Receiver{r, again} {
			for n := lost - min(lost, maxSuperseded); n < lost; n++ {
				if v := r.Check(dataFrame(another(n), 1)); v != Zombie {
					t.Errorf("receiver %d, %d logs were lost: a frame of number %d is %s", at, lost, n, v)
				}
			}
		}
	}
}

// TestR14_SeveralLostLogsOfAReceiverAcknowledgeNothing, and each is told that it is superseded.
func TestR14_SeveralLostLogsOfAReceiverAcknowledgeNothing(t *testing.T) {
	s := ready(plenty, "b-1")
	s.add(3)
	s.Stored(3, 1)
	for n := range byte(4) {
		s.lost(Ack{Edge: "e", Log: logA.LogID, Receiver: "b-1", ID: another(n)})
	}
	for n := range byte(3) {
		s.lost(Ack{Edge: "e", Log: logA.LogID, Hwm: 3, Receiver: "b-1", ID: another(n)})
		if _, frames := s.Backlog(); frames != 3 {
			t.Fatalf("lost log %d acknowledges", n)
		}
		f, due := s.Rejection("b-1", noon, 0)
		if h, _ := DecodeHello(f.Payload); !due || h.Superseded != another(n).Life {
			t.Errorf("the rejection for the lost log %d names %d", n, h.Superseded)
		}
	}
}

// TestR14_ANewLogIsNotTakenForTheOneThatAcknowledged: the hello to a receiver that has lost its log claims nothing of the new log, also if
// that comes while this node is away. Otherwise the new log would retire.
func TestR14_ANewLogIsNotTakenForTheOneThatAcknowledged(t *testing.T) {
	s := ready(plenty, "b-1")
	s.add(2)
	s.Stored(2, 1)
	s.hears("b-1", 2, false)
	again := NewSender(toB, logA, plenty, "b-1")
	again.Restore(s.Progress())
	for _, s := range []*Sender{s, again} {
		s.lost(Ack{Edge: "e", Log: logA.LogID, Receiver: "b-1", ID: another(1)})
		f, _ := s.Hello("b-1", noon.Add(pace.Hello), pace.Hello)
		if h, _ := DecodeHello(f.Payload); h.Floor != 2 || h.Acked != 0 || h.Log != (LogID{}) {
			t.Errorf("%+v", h)
		}
		if p := s.Progress().Acked; !slices.Equal(p, []Acked{{Node: "b-1", Seq: 2, Log: another(1).LogID}}) {
			t.Errorf("the next start reads %+v", p)
		}
	}
}
