package link

import (
	"slices"
	"testing"
	"time"
)

// ready returns a sender whose receivers have all reported that they have nothing so far.
func ready(window int, to ...NodeID) *Sender {
	s := NewSender(toB, logA, window, to...)
	for _, n := range to {
		s.Ack(Ack{Edge: "e", To: "a-1", Log: logA.LogID, Receiver: n, ID: self}, noon)
	}
	return s
}

func (s *Sender) add(n int) {
	for range n {
		s.Add(Frame{Kind: Data, Payload: []byte("rows")})
	}
}

func seqs(frames []Frame) (all []Seq) {
	for _, f := range frames {
		all = append(all, f.Seq)
	}
	return all
}

func expect(t *testing.T, what string, got []Frame, want ...Seq) {
	t.Helper()
	if !slices.Equal(seqs(got), want) {
		t.Fatalf("%s: frames %v, want %v", what, seqs(got), want)
	}
}

func (s *Sender) hears(node NodeID, hwm Seq, resend bool) bool {
	return s.lost(Ack{Edge: "e", To: "a-1", Log: logA.LogID, Hwm: hwm, Resend: resend, Receiver: node, ID: self}) != nil
}

// lost takes an acknowledgement that contradicts nothing.
func (s *Sender) lost(a Ack) *LostLog {
	lost, setBack := s.Ack(a, noon)
	if setBack != "" {
		panic("R14: " + setBack)
	}
	return lost
}

const plenty = 1 << 20

func TestR2_NumbersHaveNoHoles(t *testing.T) {
	s := ready(plenty, "b-1")
	for want := Seq(1); want <= 5; want++ {
		f := s.Add(Frame{Kind: Data})
		if f.Seq != want || f.Edge != "e" || f.From != "a-1" || f.ID != logA {
			t.Fatalf("%+v", f)
		}
	}
	if s.Last() != 5 {
		t.Fatal(s.Last())
	}
}

func TestR3_NothingLeavesBeforeItIsStored(t *testing.T) {
	s := ready(plenty, "b-1")
	s.add(3)
	expect(t, "nothing is stored", s.Take("b-1", plenty))
	s.Stored(2, 10)
	expect(t, "2 are stored", s.Take("b-1", plenty), 1, 2)
	expect(t, "they were sent", s.Take("b-1", plenty))
	s.Stored(3, 11)
	expect(t, "the third is stored", s.Take("b-1", plenty), 3)
}

func TestR3_StoredBeyondTheLastPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("frame 2 was stored, 1 was given out")
		}
	}()
	s := ready(plenty, "b-1")
	s.add(1)
	s.Stored(2, 1)
}

func TestR7_NothingIsSentBeforeTheHwmIsKnown(t *testing.T) {
	s := NewSender(toB, logA, plenty, "b-1")
	s.add(2)
	s.Stored(2, 1)
	expect(t, "the receiver was not heard", s.Take("b-1", plenty))
	h, ok := s.Hello("b-1", noon, pace.Hello)
	if g, err := DecodeHello(h.Payload); !ok || err != nil || g != (HelloPayload{To: "b-1"}) {
		t.Fatalf("%v %v %v", ok, g, err)
	}
	s.hears("b-1", 1, false)
	expect(t, "it has 1", s.Take("b-1", plenty), 2)
}

func TestR7_AfterAConnectItContinuesFromTheHwm(t *testing.T) {
	s := ready(plenty, "b-1")
	s.add(4)
	s.Stored(4, 1)
	s.Take("b-1", plenty)
	s.hears("b-1", 1, false)
	expect(t, "an acknowledgement alone repeats nothing", s.Take("b-1", plenty))
	s.Connected("b-1")
	expect(t, "it waits for the hwm", s.Take("b-1", plenty))
	s.hears("b-1", 2, false)
	expect(t, "it continues", s.Take("b-1", plenty), 3, 4)
}

func TestR7_HigherIncarnationOfTheReceiver(t *testing.T) {
	s := ready(plenty, "b-1")
	s.add(3)
	s.Stored(3, 1)
	s.Take("b-1", plenty)
	young := Identity{LogID: self.LogID, Incarnation: self.Incarnation + 1}
	s.Ack(Ack{Edge: "e", Log: logA.LogID, Hwm: 1, Receiver: "b-1", ID: young}, noon)
	expect(t, "what was in its memory is lost", s.Take("b-1", plenty), 2, 3)
	s.hears("b-1", 3, false) // the former incarnation
	if _, frames := s.Backlog(); frames != 2 {
		t.Fatal("a zombie's acknowledgement counts")
	}
}

func TestR4_ResendWhenAskedFor(t *testing.T) {
	s := ready(plenty, "b-1")
	s.add(3)
	s.Stored(3, 1)
	s.Take("b-1", plenty)
	s.hears("b-1", 1, true)
	expect(t, "asked", s.Take("b-1", plenty), 2, 3)
	s.hears("b-1", 3, true)
	if _, ok := s.Hello("b-1", noon, pace.Hello); !ok {
		t.Fatal("asked for what does not exist, it has to say so")
	}
}

func TestR6_AcknowledgementsAreCumulativeAndIdempotent(t *testing.T) {
	s := ready(plenty, "b-1")
	s.add(5)
	s.Stored(5, 1)
	s.Take("b-1", plenty)
	for _, hwm := range []Seq{3, 3, 1, 0, 4} {
		s.hears("b-1", hwm, false)
	}
	if _, frames := s.Backlog(); frames != 1 {
		t.Fatalf("%d frames are left", frames)
	}
}

func TestR9_RoomIsTheWindowLessWhatIsNotAcknowledged(t *testing.T) {
	s := ready(1000, "b-1")
	size := (&Frame{Payload: []byte("rows")}).Size()
	s.add(12)
	if got := s.WindowLeft(); got != 1000-12*size {
		t.Fatalf("room %d", got)
	}
	s.Stored(12, 1)
	s.hears("b-1", 2, false)
	if got := s.WindowLeft(); got != 1000-10*size {
		t.Fatalf("room %d", got)
	}
	s.hears("b-1", 12, false)
	if got := s.WindowLeft(); got != 1000 {
		t.Fatalf("room %d", got)
	}
	s.add(1)
	if got := s.WindowLeft(); got != 1000-size {
		t.Fatalf("room %d", got)
	}
}

func TestR9_TakeIsBounded(t *testing.T) {
	s := ready(plenty, "b-1")
	s.add(5)
	s.Stored(5, 1)
	expect(t, "one byte is one frame", s.Take("b-1", 1), 1)
	expect(t, "and the next", s.Take("b-1", 150), 2, 3)
}

func TestR10_AFrameStaysUntilAllHaveAcknowledged(t *testing.T) {
	s := ready(1000, "b-1", "b-2")
	s.add(3)
	s.Stored(3, 7)
	expect(t, "one message for all", s.TakeAll(plenty), 1, 2, 3)
	expect(t, "once", s.TakeAll(plenty))
	s.hears("b-1", 3, false)
	if at, ok := s.Oldest(); !ok || at != 7 {
		t.Fatal("b-2 has acknowledged nothing, and the frames are gone")
	}
	s.hears("b-2", 2, false)
	s.hears("b-2", 2, true)
	expect(t, "b-2 lacks one", s.TakeAll(plenty), 3)
	s.hears("b-2", 3, false)
	if _, ok := s.Oldest(); ok || s.WindowLeft() != 1000 {
		t.Fatal("all have all")
	}
}

func TestR10_OnlyReadyReceiversAreServed(t *testing.T) {
	s := NewSender(toB, logA, plenty, "b-1", "b-2")
	s.add(2)
	s.Stored(2, 1)
	expect(t, "nobody was heard", s.TakeAll(plenty))
	s.hears("b-2", 0, false)
	expect(t, "b-2 was", s.TakeAll(plenty), 1, 2)
	s.hears("b-1", 0, false)
	expect(t, "now b-1 is behind", s.TakeAll(plenty), 1, 2)
}

func TestR8_AReceiverWithAnotherLogHasLostWhatItAcknowledged(t *testing.T) {
	s := ready(plenty, "b-1")
	s.add(3)
	s.Stored(3, 1)
	s.hears("b-1", 2, false)
	wiped := Ack{Edge: "e", Receiver: "b-1", ID: logB}
	if s.lost(wiped) == nil {
		t.Fatal("frames 1 and 2 are lost, and nobody says so")
	}
	if s.lost(wiped) != nil {
		t.Fatal("it is said once")
	}
	h, _ := s.Hello("b-1", noon, pace.Hello)
	if g, _ := DecodeHello(h.Payload); g.Floor != 2 {
		t.Fatalf("%+v", g)
	}
	s.hears("b-1", 3, false) // from the log that was lost
	if _, frames := s.Backlog(); frames != 1 {
		t.Fatal("a log that was replaced still acknowledges")
	}
}

func TestR8_AReceiverThatHadNothingHasLostNothing(t *testing.T) {
	s := ready(plenty, "b-1")
	if s.lost(Ack{Edge: "e", Receiver: "b-1", ID: logB}) != nil {
		t.Fatal("there was nothing to lose")
	}
}

func TestHello_IsRepeatedUntilAnsweredAndWhenNothingMoves(t *testing.T) {
	s := NewSender(toB, logA, plenty, "b-1")
	at := noon
	said := func() bool {
		_, ok := s.Hello("b-1", at, pace.Hello)
		return ok
	}
	if !said() || said() {
		t.Fatal("once at first")
	}
	if at = at.Add(pace.Hello); !said() {
		t.Fatal("again, nobody answers")
	}
	s.hears("b-1", 0, false)
	if at = at.Add(time.Hour); said() {
		t.Fatal("nothing is under way")
	}
	s.add(1)
	s.Stored(1, 1)
	s.Take("b-1", plenty)
	h, ok := s.Hello("b-1", at, pace.Hello)
	if g, _ := DecodeHello(h.Payload); !ok || g.Sent != 1 {
		t.Fatal("a frame is under way and nothing moves: it may be lost")
	}
}

// TestHello_ComesSoonAfterAConnect: the answer to the first hello may be lost, because it travels over another connection, which may be
// established a moment later. The pauses double, so a receiver that is away costs no more than before. NextHello returns the time of each
// hello.
func TestHello_ComesSoonAfterAConnect(t *testing.T) {
	s := NewSender(toB, logA, plenty, "b-1")
	at := noon
	for round := range 2 {
		var pauses []time.Duration
		for range firstHellos + 3 {
			next, due := s.NextHello(pace.Hello)
			if !due {
				t.Fatal("nobody has answered, and no hello is due")
			}
			if next.Before(at) { // due at once
				next = at
			}
			if len(pauses) > 0 {
				if _, early := s.Hello("b-1", next.Add(-1), pace.Hello); early {
					t.Errorf("hello %d is said too early", len(pauses))
				}
			}
			if _, ok := s.Hello("b-1", next, pace.Hello); !ok {
				t.Fatalf("hello %d is not said when it is due", len(pauses))
			}
			pauses = append(pauses, next.Sub(at))
			at = next
		}
		want := []time.Duration{0, pace.Hello >> 5, pace.Hello >> 4, pace.Hello >> 3, pace.Hello >> 2, pace.Hello >> 1, pace.Hello, pace.Hello,
			pace.Hello}
		if !slices.Equal(pauses, want) {
			t.Errorf("round %d: pauses %v, want %v", round, pauses, want)
		}
		s.hears("b-1", 0, false)
		if next, due := s.NextHello(pace.Hello); due {
			t.Errorf("it has answered, and a hello is due at %v", next)
		}
		s.Connected("b-1")
	}
}

// TestHello_IsRepeatedWhereAnswersCanCome: a hello is repeated only to a receiver that may not have answered.
func TestHello_IsRepeatedWhereAnswersCanCome(t *testing.T) {
	s := NewSender(toB, logA, plenty, "b-1")
	for range 4 {
		s.Hello("b-1", noon, pace.Hello)
	}
	s.Answers("nobody")
	if _, ok := s.Hello("b-1", noon, pace.Hello); ok {
		t.Fatal("nobody's answers can come")
	}
	s.Answers("b-1")
	if _, ok := s.Hello("b-1", noon, pace.Hello); !ok {
		t.Fatal("its answers can come, and it is not asked")
	}
	s.hears("b-1", 0, false)
	s.Answers("b-1")
	if _, ok := s.Hello("b-1", noon.Add(time.Hour), pace.Hello); ok {
		t.Fatal("it has answered")
	}
}

func TestUnsend_IsTakenAgain(t *testing.T) {
	s := ready(plenty, "b-1")
	s.add(4)
	s.Stored(4, 1)
	s.Take("b-1", plenty)
	s.Unsend("b-1", 3)
	expect(t, "from 3 on", s.Take("b-1", plenty), 3, 4)
	s.Unsend("b-1", 0) // a hello has no number
	s.Unsend("nobody", 1)
	expect(t, "nothing", s.Take("b-1", plenty))
}

func TestStrangersAreIgnored(t *testing.T) {
	s := ready(plenty, "b-1")
	if s.hears("c-9", 5, true) || s.lost(Ack{Edge: "other", Receiver: "b-1", ID: logB}) != nil {
		t.Fatal("a stranger changed something")
	}
	s.Connected("c-9")
	if s.Take("c-9", plenty) != nil {
		t.Fatal("a stranger gets frames")
	}
	if _, ok := s.Hello("c-9", noon, pace.Hello); ok {
		t.Fatal("a stranger is greeted")
	}
	if !slices.Equal(s.Peers(), []NodeID{"b-1"}) || s.Edge != "e" {
		t.Fatal(s.Peers(), s.Edge)
	}
}

// TestN3_AFrameThatIsNotStoredHasNoPlaceInTheLog: the log may be cut whatever such frames there are.
func TestN3_AFrameThatIsNotStoredHasNoPlaceInTheLog(t *testing.T) {
	s := ready(plenty, "b-1")
	s.add(2)
	if at, some := s.Oldest(); some {
		t.Fatalf("the oldest frame is in record %d", at)
	}
	s.Stored(1, 7)
	if at, some := s.Oldest(); !some || at != 7 {
		t.Fatalf("the oldest frame is in record %d, %v", at, some)
	}
	s.hears("b-1", 1, false)
	if at, some := s.Oldest(); some {
		t.Fatalf("frame 2 is not stored, and in record %d", at)
	}
}
