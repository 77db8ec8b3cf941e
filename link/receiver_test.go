package link

import (
	"testing"
	"time"
)

var (
	noon = time.Unix(1_700_000_000, 0)
	logA = Identity{LogID: LogID{0xa}, Incarnation: 1}
	logB = Identity{LogID: LogID{0xb}, Incarnation: 1}
	toB  = Link{Edge: "e", From: "a-1"}
	self = Identity{LogID: LogID{0xc}, Incarnation: 1}
	pace = Pace{Repeat: 500 * time.Millisecond, Ask: 100 * time.Millisecond, Hello: 300 * time.Millisecond}
)

func dataFrame(id Identity, seq Seq) *Frame {
	return &Frame{Edge: "e", From: "a-1", ID: id, Seq: seq, Kind: Data}
}

// greeted returns a receiver that has got a sender's hello, at the given number.
func greeted(id Identity, at Seq) *Receiver {
	r := NewReceiver(toB)
	r.hello(id, HelloPayload{To: "b-1", Floor: at, Sent: at})
	r.Stored(r.Hwm())
	return r
}

// hello takes a hello that contradicts nothing.
func (r *Receiver) hello(id Identity, h HelloPayload) (lost bool) {
	lost, setBack := r.Hello(id, h, self.LogID)
	if setBack != "" {
		panic("R14: " + setBack)
	}
	return lost
}

func (r *Receiver) ackNow(t *testing.T, at time.Time) Ack {
	t.Helper()
	a, ok := r.Ack("b-1", self, at, pace)
	if !ok {
		t.Fatal("no acknowledgement is due")
	}
	return a
}

func TestR4_TakesNextDropsLessAsksForMore(t *testing.T) {
	r := greeted(logA, 0)
	for seq, want := range map[Seq]Verdict{1: Take, 2: Gap, 7: Gap} {
		if got := r.Check(dataFrame(logA, seq)); got != want {
			t.Errorf("frame %d after 0: %d, want %d", seq, got, want)
		}
	}
	r.Took(dataFrame(logA, 1))
	r.Took(dataFrame(logA, 2))
	for seq, want := range map[Seq]Verdict{1: Duplicate, 2: Duplicate, 3: Take, 4: Gap} {
		if got := r.Check(dataFrame(logA, seq)); got != want {
			t.Errorf("frame %d after 2: %d, want %d", seq, got, want)
		}
	}
}

func TestR4_GapAsksForResendWhenTheRestIsStored(t *testing.T) {
	r := greeted(logA, 0)
	r.Took(dataFrame(logA, 1))
	r.Dropped(Gap, logA)
	if a := r.ackNow(t, noon); a.Resend {
		t.Fatal("it asks for a resend from 1 although it has 1 and only has to store it")
	}
	r.Stored(r.Hwm())
	a := r.ackNow(t, noon)
	if !a.Resend || a.Hwm != 1 {
		t.Fatalf("%+v", a)
	}
	if _, ok := r.Ack("b-1", self, noon.Add(pace.Ask-1), pace); ok {
		t.Fatal("it asks again while frames may still be arriving")
	}
	if a := r.ackNow(t, noon.Add(pace.Ask)); !a.Resend {
		t.Fatal("it gives up asking")
	}
	r.Took(dataFrame(logA, 2))
	r.Stored(r.Hwm())
	if a := r.ackNow(t, noon.Add(2*pace.Ask)); a.Resend {
		t.Fatal("it asks for what came")
	}
}

func TestR4_DuplicateIsAcknowledgedAgain(t *testing.T) {
	r := greeted(logA, 3)
	r.ackNow(t, noon)
	if _, ok := r.Ack("b-1", self, noon, pace); ok {
		t.Fatal("nothing has happened")
	}
	r.Dropped(Duplicate, logA)
	if a := r.ackNow(t, noon); a.Hwm != 3 {
		t.Fatalf("%+v", a)
	}
}

func TestR4_TakingAnythingElsePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("frame 2 was taken after 0")
		}
	}()
	greeted(logA, 0).Took(dataFrame(logA, 2))
}

func TestR3R5_OnlyWhatIsStoredIsAcknowledged(t *testing.T) {
	r := greeted(logA, 0)
	r.Took(dataFrame(logA, 1))
	h := r.Hwm()
	r.Took(dataFrame(logA, 2))
	if a := r.ackNow(t, noon); a.Hwm != 0 {
		t.Fatalf("hwm %d is acknowledged, nothing is stored", a.Hwm)
	}
	r.Stored(h)
	if a := r.ackNow(t, noon); a.Hwm != 1 {
		t.Fatalf("hwm %d is acknowledged, 1 is stored", a.Hwm)
	}
	if r.Hwm().Seq != 2 {
		t.Fatal("frame 2 is not stored")
	}
}

// TestR5_FloorIsStoredFirst: a floor is an ordinary hwm.
func TestR5_FloorIsStoredFirst(t *testing.T) {
	r := NewReceiver(toB)
	r.hello(logA, HelloPayload{To: "b-1", Floor: 8, Sent: 8})
	if a := r.ackNow(t, noon); a.Hwm != 0 || a.Log != logA.LogID {
		t.Fatalf("%+v", a)
	}
	r.Stored(r.Hwm())
	if a := r.ackNow(t, noon); a.Hwm != 8 {
		t.Fatalf("%+v", a)
	}
}

func TestR6_AcknowledgementsAreRepeated(t *testing.T) {
	r := greeted(logA, 0)
	r.ackNow(t, noon)
	if _, ok := r.Ack("b-1", self, noon.Add(pace.Repeat-1), pace); ok {
		t.Fatal("too early")
	}
	a := r.ackNow(t, noon.Add(pace.Repeat))
	if a != (Ack{Edge: "e", To: "a-1", Log: logA.LogID, Receiver: "b-1", ID: self}) {
		t.Fatalf("%+v", a)
	}
}

func TestR7_HelloShowsWhatWasLost(t *testing.T) {
	r := greeted(logA, 3)
	r.hello(logA, HelloPayload{To: "b-1", Floor: 3, Sent: 5})
	if a := r.ackNow(t, noon); !a.Resend || a.Hwm != 3 {
		t.Fatalf("frames 4 and 5 were in front of the hello and are not here: %+v", a)
	}
	r.hello(logA, HelloPayload{To: "b-1", Floor: 3, Sent: 3})
	if a := r.ackNow(t, noon.Add(time.Second)); a.Resend {
		t.Fatal("it asks for frames that do not exist")
	}
}

func TestR7_ReconnectedAsksAtOnce(t *testing.T) {
	r := greeted(logA, 3)
	r.Dropped(Gap, logA)
	r.ackNow(t, noon)
	r.Reconnected()
	if a := r.ackNow(t, noon.Add(time.Millisecond)); !a.Resend {
		t.Fatalf("%+v", a)
	}
}

func TestR8_FramesOfAnUnknownLogWaitForItsHello(t *testing.T) {
	r := NewReceiver(toB)
	if v := r.Check(dataFrame(logA, 1)); v != Unknown {
		t.Fatalf("verdict %d", v)
	}
	r.Dropped(Unknown, logA)
	if a := r.ackNow(t, noon); a.Log != (LogID{}) {
		t.Fatalf("%+v", a)
	}
	if r.hello(logA, HelloPayload{To: "b-1"}) {
		t.Fatal("a first contact is not a loss")
	}
	if v := r.Check(dataFrame(logA, 1)); v != Take {
		t.Fatalf("verdict %d", v)
	}
}

func TestR8_LowerIncarnationIsAZombie(t *testing.T) {
	r := greeted(logA, 0)
	young := Identity{LogID: logA.LogID, Incarnation: 3}
	r.hello(young, HelloPayload{To: "b-1"})
	if v := r.Check(dataFrame(logA, 2)); v != Zombie {
		t.Fatalf("verdict %d", v)
	}
	r.hello(logA, HelloPayload{To: "b-1", Sent: 9})
	if r.ID() != young {
		t.Fatalf("a zombie's hello is believed: %v", r.ID())
	}
}

func TestR8_NewLogStartsAgainAndSupersedesTheOldOne(t *testing.T) {
	r := greeted(logA, 0)
	for seq := Seq(1); seq <= 5; seq++ {
		r.Took(dataFrame(logA, seq))
	}
	inFlight := r.Hwm()
	if !r.hello(logB, HelloPayload{To: "b-1", Sent: 2}) {
		t.Fatal("the sender lost its disk, and nobody says so")
	}
	r.Stored(inFlight) // counts in the old log
	if a := r.ackNow(t, noon); a.Hwm != 0 || a.Log != logB.LogID {
		t.Fatalf("%+v", a)
	}
	if v := r.Check(dataFrame(logB, 1)); v != Take {
		t.Fatalf("verdict %d", v)
	}
	if v := r.Check(dataFrame(logA, 6)); v != Zombie {
		t.Fatalf("verdict %d", v)
	}
	if r.hello(logA, HelloPayload{To: "b-1"}); r.ID() != logB {
		t.Fatal("the old log comes back")
	}
}

func TestR8_SupersededLogsAreBoundedAndDurable(t *testing.T) {
	r := greeted(logA, 0)
	for i := range byte(3 * maxSuperseded) {
		r.hello(Identity{LogID: LogID{0xf, i}, Incarnation: 1}, HelloPayload{To: "b-1"})
	}
	h := r.Hwm()
	if len(h.Superseded) != maxSuperseded {
		t.Fatalf("%d logs are remembered", len(h.Superseded))
	}
	again := NewReceiver(toB)
	again.Restore(h)
	if v := again.Check(dataFrame(Identity{LogID: h.Superseded[0], Incarnation: 9}, 1)); v != Zombie {
		t.Fatalf("verdict %d", v)
	}
}

// TestR8_FloorBeyondTheHwmIsALoss: the sender remembers acknowledgements that this disk does not have.
func TestR8_FloorBeyondTheHwmIsALoss(t *testing.T) {
	r := greeted(logA, 3)
	if !r.hello(logA, HelloPayload{To: "b-1", Floor: 6, Sent: 7}) {
		t.Fatal("frames 4 to 6 are gone for good")
	}
	if v := r.Check(dataFrame(logA, 7)); v != Take {
		t.Fatalf("the link stands still: verdict %d", v)
	}
}
