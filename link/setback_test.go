package link

import (
	"strings"
	"testing"
)

// lived returns the identity of a log with a life of its own.
func lived(log byte, inc Incarnation, life Life) Identity {
	return Identity{LogID: LogID{log}, Incarnation: inc, Life: life}
}

var (
	senderLog   = lived(0xa, 5, 50)
	receiverLog = lived(0xc, 7, 70)
)

// pipe is both ends of a link whose receiver has stored four frames, and acknowledged them.
func pipe(t *testing.T) (*Sender, *Receiver) {
	t.Helper()
	s, r := NewSender(toB, senderLog, plenty, "b-1"), NewReceiver(toB)
	greet(t, s, r, receiverLog)
	s.add(4)
	s.Stored(4, 1)
	transfer(t, s, r)
	return s, r
}

// greet lets a sender send a hello and the receiver answer. It fails if either finds that its log was set back.
func greet(t *testing.T, s *Sender, r *Receiver, self Identity) {
	t.Helper()
	if why := helloTo(t, s, r, self); why != "" {
		t.Fatalf("the receiver retires: %s", why)
	}
	if _, why := s.Ack(answer(t, r, self), noon); why != "" {
		t.Fatalf("the sender retires: %s", why)
	}
}

func helloTo(t *testing.T, s *Sender, r *Receiver, self Identity) (setBack string) {
	t.Helper()
	s.Connected("b-1")
	f, ok := s.Hello("b-1", noon, pace.Hello)
	h, err := DecodeHello(f.Payload)
	if !ok || err != nil {
		t.Fatal("no hello", err)
	}
	_, setBack = r.Hello(f.ID, h, self.LogID)
	r.Stored(r.Hwm())
	return setBack
}

func answer(t *testing.T, r *Receiver, self Identity) Ack {
	t.Helper()
	r.ackDue = true
	a, ok := r.Ack("b-1", self, noon, pace)
	if !ok {
		t.Fatal("no answer")
	}
	return a
}

func transfer(t *testing.T, s *Sender, r *Receiver) {
	t.Helper()
	for _, f := range s.Take("b-1", plenty) {
		if v := r.Check(&f); v != Take {
			t.Fatalf("frame %d: verdict %d", f.Seq, v)
		}
		r.Took(&f)
	}
	r.Stored(r.Hwm())
	if _, why := s.Ack(answer(t, r, receiverLog), noon); why != "" {
		t.Fatal(why)
	}
}

// setBackTo returns a sender that has opened its log again. The log ends with frame n of its former life.
func setBackTo(t *testing.T, n Seq, id Identity) *Sender {
	t.Helper()
	s := NewSender(toB, id, plenty, "b-1")
	for seq := Seq(1); seq <= n; seq++ {
		if err := s.Reload(s.made(Frame{Edge: "e", From: "a-1", Seq: seq, Life: senderLog.Life, Kind: Data, Payload: []byte("rows")}),
			1); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestR14_HwmAboveWhatIsStored: first row of the table.
func TestR14_HwmAboveWhatIsStored(t *testing.T) {
	_, r := pipe(t)
	s := setBackTo(t, 3, lived(0xa, 6, 60))
	if why := helloTo(t, s, r, receiverLog); why != "" {
		t.Fatalf("it is the sender that was set back: %s", why)
	}
	if _, why := s.Ack(answer(t, r, receiverLog), noon); !strings.Contains(why, "frame 4") {
		t.Fatalf("the receiver has 4, 3 are stored: %q", why)
	}
	expect(t, "nothing leaves", s.Take("b-1", plenty))
}

// TestR14_AnotherLifeAtTheNumber: meanwhile the sender has made other frames with the same numbers.
func TestR14_AnotherLifeAtTheNumber(t *testing.T) {
	for _, lost := range []Seq{1, 2, 4} {
		_, r := pipe(t)
		s := setBackTo(t, 4-lost, lived(0xa, 6, 60))
		s.add(7)
		s.Stored(s.Last(), 2)
		helloTo(t, s, r, receiverLog)
		if _, why := s.Ack(answer(t, r, receiverLog), noon); !strings.Contains(why, "another frame 4") {
			t.Fatalf("%d frames lost: %q", lost, why)
		}
	}
}

// TestR14_AnotherLifeWhereAllIsAcknowledged: the outbox is empty, but the life of the last acknowledged frame is kept.
func TestR14_AnotherLifeWhereAllIsAcknowledged(t *testing.T) {
	s, r := pipe(t)
	p := s.Progress()
	if p.Life != senderLog.Life || p.Acked[0].Life != senderLog.Life || !p.Acked[0].Here {
		t.Fatalf("%+v", p)
	}
	again := NewSender(toB, lived(0xa, 6, 60), plenty, "b-1")
	again.Restore(p)
	greet(t, again, r, receiverLog)
	p.Acked[0].Life, p.Life = 99, 99
	other := NewSender(toB, lived(0xa, 7, 61), plenty, "b-1")
	other.Restore(p)
	r.id = again.id
	helloTo(t, other, r, lived(0xd, 1, 1))
	if _, why := other.Ack(answer(t, r, receiverLog), noon); why == "" {
		t.Fatal("frame 4 is another one")
	}
}

// TestR14_ReceiverSetBack: third row. The sender only sends a hello, and the receiver decides.
func TestR14_ReceiverSetBack(t *testing.T) {
	s, r := pipe(t)
	h := r.Hwm()
	h.Seq = 3
	again, self := NewReceiver(toB), lived(0xc, 8, 80)
	again.Restore(h)
	if lost, why := s.Ack(answer(t, again, self), noon); lost != nil || why != "" {
		t.Fatalf("the sender acts: %v %q", lost, why)
	}
	f, ok := s.Hello("b-1", noon.Add(pace.Hello), pace.Hello)
	if !ok {
		t.Fatal("the sender says nothing")
	}
	g, err := DecodeHello(f.Payload)
	if err != nil || g.Log != self.LogID || g.Acked != 4 || g.Life != senderLog.Life {
		t.Fatalf("%+v %v", g, err)
	}
	if _, why := again.Hello(f.ID, g, self.LogID); !strings.Contains(why, "frame 4") {
		t.Fatalf("this very log acknowledged 4, and has 3: %q", why)
	}
	if lost, why := again.Hello(f.ID, g, LogID{9}); why != "" || !lost {
		t.Fatalf("another log acknowledged it, which is R8's: %v %q", lost, why)
	}
}

// TestR14_ReceiverHasAnotherFrame: the receiver was set back and took other frames from a sender that was set back, too, and has recovered
// since.
func TestR14_ReceiverHasAnotherFrame(t *testing.T) {
	s, r := pipe(t)
	h := r.Hwm()
	h.Life = 99
	again := NewReceiver(toB)
	again.Restore(h)
	if why := helloTo(t, s, again, receiverLog); !strings.Contains(why, "another frame 4") {
		t.Fatalf("%q", why)
	}
}

// TestR14_ReceiverDoesNotKnowTheSender: it does not, although its own log acknowledged that sender's frames.
func TestR14_ReceiverDoesNotKnowTheSender(t *testing.T) {
	s, _ := pipe(t)
	if why := helloTo(t, s, NewReceiver(toB), receiverLog); !strings.Contains(why, "does not know its log") {
		t.Fatalf("%q", why)
	}
	if why := helloTo(t, s, NewReceiver(toB), lived(0xd, 1, 1)); why != "" {
		t.Fatalf("a new log contradicts nobody: %q", why)
	}
}

// TestR14_AnAckForAnotherLifeIsDropped: the sender sends its hello again soon, but not at once: otherwise both would repeat messages at the
// speed of the network.
func TestR14_AnAckForAnotherLifeIsDropped(t *testing.T) {
	s, r := pipe(t)
	s.add(1)
	s.Stored(5, 2)
	a := answer(t, r, receiverLog)
	a.Hwm, a.Echo = 1<<60, 49
	if lost, why := s.Ack(a, noon); lost != nil || why != "" {
		t.Fatalf("%v %q", lost, why)
	}
	if _, ok := s.Hello("b-1", noon, pace.Hello); ok {
		t.Fatal("at once")
	}
	if _, ok := s.Hello("b-1", noon.Add(pace.Hello/answerFaster), pace.Hello); !ok {
		t.Fatal("never")
	}
}

// TestR14_ALifeIsAnsweredWithAllThatWasTaken: frames of a former life were taken and are not stored. The answer to the new life has to
// include them, or it would use their numbers again.
func TestR14_ALifeIsAnsweredWithAllThatWasTaken(t *testing.T) {
	s, r := pipe(t)
	s.add(2)
	s.Stored(6, 2)
	for _, f := range s.Take("b-1", plenty) {
		r.Took(&f)
	}
	taken := r.Hwm() // not stored yet
	id := lived(0xa, 6, 60)
	again := setBackTo(t, 4, id)
	f, _ := again.Hello("b-1", noon, pace.Hello)
	h, _ := DecodeHello(f.Payload)
	r.Hello(f.ID, h, receiverLog.LogID)
	if a := answer(t, r, receiverLog); a.Echo == id.Life {
		t.Fatalf("%+v", a)
	}
	taken.ID = r.ID()
	r.Stored(taken)
	if a := answer(t, r, receiverLog); a.Echo != id.Life || a.Hwm != 6 {
		t.Fatalf("%+v", a)
	} else if _, why := again.Ack(a, noon); why == "" {
		t.Fatal("the sender has stored 4")
	}
}

// TestR14_FramesOfAnotherLifeAreKeptOut: the same incarnation was opened twice.
func TestR14_FramesOfAnotherLifeAreKeptOut(t *testing.T) {
	_, r := pipe(t)
	for id, want := range map[Identity]Verdict{
		senderLog: Take, lived(0xa, 5, 51): Zombie, lived(0xa, 4, 50): Zombie, lived(0xa, 6, 60): Unknown, lived(0xb, 1, 1): Unknown,
	} {
		if v := r.Check(&Frame{Edge: "e", From: "a-1", ID: id, Seq: 5, Kind: Data}); v != want {
			t.Errorf("%+v: verdict %d, want %d", id, v, want)
		}
	}
}

// TestR14_SendersLearnThatTheyAreSuperseded: each sender is told, and the notice matters only to a living one.
func TestR14_SendersLearnThatTheyAreSuperseded(t *testing.T) {
	for name, id := range map[string]Identity{
		"another life of the same incarnation": lived(0xa, 5, 51), "a lower incarnation": lived(0xa, 4, 40), "a replaced log": lived(0xb, 9, 90),
	} {
		_, r := pipe(t)
		r.superseded.add(LogID{0xb})
		for _, how := range []func(){
			func() { r.Hello(id, HelloPayload{To: "b-1"}, receiverLog.LogID) },
			func() { r.Dropped(r.Check(&Frame{ID: id, Seq: 5}), id) },
		} {
			how()
			if r.ID() != senderLog {
				t.Fatalf("%s: it is believed", name)
			}
			r.rejectedAt = noon.Add(-pace.Ask)
			a, ok := r.Rejection("b-1", receiverLog, noon, pace)
			if !ok || !a.Superseded || a.Log != id.LogID || a.Echo != id.Life {
				t.Fatalf("%s: %v %+v", name, ok, a)
			}
			if _, why := NewSender(toB, id, plenty, "b-1").Ack(a, noon); why == "" {
				t.Fatalf("%s: it continues", name)
			}
			s, _ := pipe(t)
			if _, why := s.Ack(a, noon); why != "" {
				t.Fatalf("%s: the present life retires: %s", name, why)
			}
		}
	}
}

// TestR14_ReceiversLearnThatASenderIsSuperseded: the notice is a hello.
func TestR14_ReceiversLearnThatASenderIsSuperseded(t *testing.T) {
	for name, id := range map[string]Identity{
		"another life of the same incarnation": lived(0xc, 7, 71), "a lower incarnation": lived(0xc, 6, 60), "a replaced log": lived(0xd, 9, 90),
	} {
		s, r := pipe(t)
		s.peers[0].superseded.add(LogID{0xd})
		a := answer(t, r, id)
		a.Hwm = 1 << 60
		if lost, why := s.Ack(a, noon); lost != nil || why != "" {
			t.Fatalf("%s: it is believed: %q", name, why)
		}
		f, ok := s.Rejection("b-1", noon, pace.Ask)
		h, err := DecodeHello(f.Payload)
		if !ok || err != nil || f.Kind != Hello || h.To != "b-1" || h.Superseded != id.Life {
			t.Fatalf("%s: %v %+v", name, ok, h)
		}
		if _, again := s.Rejection("b-1", noon, pace.Ask); again {
			t.Fatalf("%s: twice", name)
		}
	}
}
