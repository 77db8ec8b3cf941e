package trace

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"posta.dev/posta/protocol/session"
)

const ms = time.Millisecond

// world is a recorder whose clock stands until the test moves it.
type world struct {
	*Recorder
	now time.Duration
}

func newWorld() *world {
	w := &world{now: time.Hour}
	w.Recorder = New(func() time.Duration { return w.now }, []string{"parser", "joiner"},
		[]Link{{"a-b", "a-1"}, {"a-b", "a-2"}}, []Link{{"b-c", "c-1"}, {"b-d", ""}})
	return w
}

func (w *world) after(d time.Duration) { w.now += d }

func (w *world) of(t *testing.T, id session.ID) *Trace {
	t.Helper()
	r := w.Report(id)
	if r.Trace == nil {
		t.Fatalf("session %s is unknown", id)
	}
	checkSums(t, r.Trace)
	return r.Trace
}

// checkSums: a session is in one state at each moment, so the states and the cells of the line each have all of its time.
func checkSums(t *testing.T, x *Trace) {
	t.Helper()
	length, sum := x.Begin-x.End, time.Duration(0)
	for _, d := range x.States {
		sum += d
	}
	if sum != length {
		t.Errorf("the states have %v of %v", sum, length)
	}
	var line Cell
	for i, c := range x.Line {
		all := time.Duration(0)
		for s, d := range c {
			line[s] += d
			all += d
		}
		if all > x.Width || all < x.Width && i < len(x.Line)-1 {
			t.Errorf("cell %d of %d has %v of %v", i, len(x.Line), all, x.Width)
		}
	}
	if line != x.States {
		t.Errorf("the line has %v, the states %v", line, x.States)
	}
}

// TestStates follows a session through each state.
func TestStates(t *testing.T) {
	w := newWorld()
	id := session.New()
	s := w.Begin(id, "bikes", session.Trace{7}, false)
	w.after(10 * ms) // waits for input
	at := w.now
	w.after(3 * ms) // the loop is busy elsewhere
	w.Took(s, 1, 1000, 5000, at)
	w.Touch(s)
	w.Enter(s, 0)
	w.after(20 * ms)
	w.Enter(s, 1) // the parser emits to the joiner
	w.after(30 * ms)
	w.Leave()
	w.after(5 * ms)
	w.Leave()
	w.after(2 * ms) // the commit waits for more
	w.Made(s, 0, 1, 400)
	w.Sealed()
	w.after(7 * ms)
	w.Synced(6 * ms)
	w.Stored()
	w.after(1 * ms)
	w.Wait(s, Blocked, w.now-1*ms)
	w.after(40 * ms)
	w.Wait(s, Blocked, w.now) // still
	w.after(40 * ms)
	w.Acked(0, 1)
	w.Wait(s, Reference, w.now)
	w.after(15 * ms)
	x := w.of(t, id)
	want := Cell{Input: 12 * ms, Turn: 4 * ms, Working: 55 * ms, Log: 7 * ms, Blocked: 80 * ms, Reference: 15 * ms}
	if x.States != want || !x.Running || x.Failed || x.Recovered || x.End != 0 || x.ID != (session.Trace{7}) || x.Analysis != "bikes" {
		t.Errorf("the trace is %+v, want %v", x, want)
	}
	if want := []RoleTime{{"parser", 1, 25 * ms}, {"joiner", 1, 30 * ms}}; !reflect.DeepEqual(x.Roles, want) {
		t.Errorf("roles %v, want %v", x.Roles, want)
	}
	if want := []Queue{{Link: Link{"a-b", "a-2"}, Frames: 1, Bytes: 1000, Peak: 5000, Mean: 3 * ms, Max: 3 * ms}}; !reflect.DeepEqual(x.In,
		want) {
		t.Errorf("in %+v, want %+v", x.In, want)
	}
	if want := []Queue{{Link: Link{"b-c", "c-1"}, Frames: 1, Bytes: 400, Peak: 400, Mean: 81 * ms, Max: 81 * ms}}; !reflect.DeepEqual(x.Out,
		want) {
		t.Errorf("out %+v, want %+v", x.Out, want)
	}
	if x.Commits.Count != 1 || x.Commits.Max != 7*ms || x.Syncs.Max != 6*ms || x.Syncs.P50 != 6*ms {
		t.Errorf("commits %+v, fsyncs %+v", x.Commits, x.Syncs)
	}

	w.Left(s, true)
	w.after(1 * ms)
	if !w.of(t, id).Running {
		t.Error("the session ended before the commit that says so is stored")
	}
	w.Sealed()
	w.after(1 * ms)
	w.Stored()
	w.after(9 * ms)
	if x = w.of(t, id); x.Running || !x.Failed || x.End != 9*ms {
		t.Errorf("it ended %v ago, running %v, failed %v", x.End, x.Running, x.Failed)
	}
}

// TestPreparedInParallel: while chunks of two sessions are parsed beside the loop, both are worked on, whatever the loop does. The time of
// each chunk counts.
func TestPreparedInParallel(t *testing.T) {
	w := newWorld()
	a, b := w.Begin(session.ID{1}, "a", session.Trace{}, false), w.Begin(session.ID{2}, "b", session.Trace{}, false)
	w.Prepare(a, 0)
	w.Prepare(b, 0)
	w.Prepare(a, 0)
	w.after(4 * ms)
	w.Enter(a, 1)
	w.after(2 * ms)
	w.Leave()
	w.Wait(b, Blocked, 0)
	w.after(4 * ms)
	w.Prepared(a, 0, 10*ms)
	w.Prepared(b, 0, 9*ms)
	w.after(5 * ms)
	w.Prepared(a, 0, 14*ms)
	w.after(1 * ms)
	for i, want := range []struct {
		working time.Duration
		parser  RoleTime
	}{{15 * ms, RoleTime{"parser", 2, 24 * ms}}, {10 * ms, RoleTime{"parser", 1, 9 * ms}}} {
		x := w.of(t, session.ID{byte(i + 1)})
		if x.States[Working] != want.working || x.Roles[0] != want.parser {
			t.Errorf("session %d: %v, %v", i+1, x.States, x.Roles)
		}
	}
}

// TestOutbox: batches that are not stored are not acknowledged, and frames of two sessions and commits stay apart.
func TestOutbox(t *testing.T) {
	w := newWorld()
	a, b := w.Begin(session.ID{1}, "a", session.Trace{}, false), w.Begin(session.ID{2}, "b", session.Trace{}, false)
	w.Made(a, 0, 1, 10)
	w.Made(a, 0, 2, 10)
	w.Made(b, 0, 3, 100)
	w.Sealed()
	w.Made(b, 0, 4, 100) // of the next commit
	w.after(ms)
	w.Stored()
	w.after(ms)
	w.Acked(0, 1) // half of the first batch
	w.after(ms)
	w.Acked(0, 4) // an acknowledgement beyond what is stored counts for what is stored
	if q := w.of(t, session.ID{1}).Out[0]; q.Frames != 2 || q.Mean != 2*ms || q.Max != 2*ms || q.Waiting != 0 || q.Peak != 20 {
		t.Errorf("of the first session %+v", q)
	}
	if q := w.of(t, session.ID{2}).Out[0]; q.Frames != 2 || q.Bytes != 200 || q.Max != 2*ms || q.Peak != 100 || q.Waiting != 0 {
		t.Errorf("of the second session %+v", q)
	}
	w.Sealed()
	w.Stored()
	if q := w.of(t, session.ID{2}).Out[0]; q.Waiting != 100 {
		t.Errorf("of the second session %+v", q)
	}
	w.Left(a, false)
	w.Sealed()
	w.Stored()
	w.after(ms)
	w.Acked(0, 4) // after the end of a, and the batches of b are gone
	if len(w.boxes[0].batches) != 0 {
		t.Errorf("%d batches are left", len(w.boxes[0].batches))
	}
}

// TestR16_OldTracesAreForgotten: the oldest of many sessions goes, and the report says so.
func TestR16_OldTracesAreForgotten(t *testing.T) {
	w := newWorld()
	for i := range Kept + 2 {
		id := session.ID{byte(i), byte(i >> 8)}
		s := w.Begin(id, "a", session.Trace{}, false)
		w.Left(s, false)
		w.Sealed()
		w.Stored()
		w.after(ms)
		if r := w.Report(id); r.Full() != (i+1 >= Kept) {
			t.Fatalf("after %d sessions it is full: %v", i+1, r.Full())
		}
	}
	if r := w.Report(session.ID{1}); r.Trace != nil || r.Ended != Kept || r.Oldest != Kept*ms || !r.Full() {
		t.Errorf("a forgotten session: %+v", r)
	}
	if r := w.Report(session.ID{2}); r.Trace == nil {
		t.Error("the oldest that is kept is unknown")
	}
	if len(w.running) != 0 {
		t.Errorf("%d sessions run", len(w.running))
	}
}

// TestLongSessions: the line keeps its size, and widens its cells.
func TestLongSessions(t *testing.T) {
	w := newWorld()
	s := w.Begin(session.ID{1}, "a", session.Trace{}, false)
	for i := range 200 {
		w.Enter(s, 0)
		w.after(time.Duration(i) * 17 * ms)
		w.Leave()
		w.after(time.Duration(i) * 3 * ms)
		x := w.of(t, session.ID{1})
		if len(x.Line) > maxCells || len(x.Line) < maxCells/2 && x.Width > firstCell {
			t.Fatalf("%d cells of %v", len(x.Line), x.Width)
		}
	}
}

func TestQuantiles(t *testing.T) {
	var s spread
	for i := range 1000 {
		s.add(time.Duration(i+1) * 100 * time.Microsecond)
	}
	d := s.durations()
	near := func(name string, got, want time.Duration) {
		if got < want || got > want*119/100 {
			t.Errorf("%s is %v, want %v to 19 %% more", name, got, want)
		}
	}
	near("p50", d.P50, 50*ms)
	near("p95", d.P95, 95*ms)
	if d.Max != 100*ms || d.Count != 1000 || d.Mean != 50*ms+50*time.Microsecond {
		t.Errorf("durations %+v", d)
	}
	s.add(time.Hour)
	s.add(-ms)
	if d := s.durations(); d.Max != time.Hour || d.Count != 1002 {
		t.Errorf("durations %+v", d)
	}
	if d := (&spread{}).durations(); d != (Durations{}) {
		t.Errorf("nothing is %+v", d)
	}
}

// TestAnyCourse: whatever the core says, states and lines add up, counts do not run away, and reports come out as they went in.
func TestAnyCourse(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := newWorld()
		var live []*Session
		seq, flying, depth := [2]uint64{}, false, 0
		for range 400 {
			w.after(time.Duration(rng.IntN(5000)) * time.Microsecond)
			if len(live) == 0 || rng.IntN(40) == 0 {
				live = append(live, w.Begin(session.New(), "a", session.Trace{}, rng.IntN(2) == 0))
			}
			i := rng.IntN(len(live))
			s := live[i]
			switch rng.IntN(12) {
			case 0, 1:
				if depth < 3 {
					w.Enter(s, rng.IntN(2))
					depth++
				}
			case 2, 3:
				if depth > 0 {
					w.Leave()
					depth--
				}
			case 4:
				w.Prepare(s, 1)
				w.Prepare(live[0], 1)
				w.after(ms)
				w.Prepared(s, 1, ms)
				w.Prepared(live[0], 1, ms)
			case 5:
				w.Took(s, rng.IntN(2), 10, rng.IntN(100), w.now-time.Duration(rng.IntN(10))*ms)
				w.Touch(s)
			case 6:
				w.Wait(s, State(rng.IntN(int(States))), w.now-time.Duration(rng.IntN(10))*ms)
			case 7:
				out := rng.IntN(2)
				seq[out]++
				w.Made(s, out, seq[out], 10)
				w.Touch(s)
			case 8:
				if !flying {
					w.Sealed()
					flying = true
				}
			case 9:
				if flying {
					w.Stored()
					flying = false
				}
			case 10:
				out := rng.IntN(2)
				w.Acked(out, rng.Uint64N(seq[out]+1))
			case 11:
				if depth == 0 && rng.IntN(4) == 0 {
					w.Left(s, rng.IntN(2) == 0)
					live = append(live[:i], live[i+1:]...)
				}
			}
			r := w.Report(s.id)
			checkSums(t, r.Trace)
			for _, q := range r.Trace.Out {
				if q.Waiting > q.Bytes || q.Peak > q.Bytes {
					t.Fatalf("seed %d: %+v", seed, q)
				}
			}
			if again, err := DecodeReport(r.Append(nil)); err != nil || !reflect.DeepEqual(again, r) {
				t.Fatalf("seed %d: %+v comes back as %+v, %v", seed, r, again, err)
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

// TestBadReports: a stranger's report is an error, whatever part of it is missing.
func TestBadReports(t *testing.T) {
	w := newWorld()
	s := w.Begin(session.ID{1}, "a", session.Trace{}, false)
	w.Took(s, 0, 1, 1, w.now)
	w.Enter(s, 0)
	w.after(ms)
	w.Leave()
	report := w.Report(session.ID{1})
	good := report.Append(nil)
	for n := range good {
		if _, err := DecodeReport(good[:n]); err == nil {
			t.Errorf("%d of %d bytes are read", n, len(good))
		}
	}
	if _, err := DecodeReport(make([]byte, maxReport+1)); err == nil {
		t.Error("a report of a megabyte is read")
	}
}

func FuzzDecodeReport(f *testing.F) {
	w := newWorld()
	w.Begin(session.ID{1}, "a", session.Trace{}, false)
	r := w.Report(session.ID{1})
	f.Add(r.Append(nil))
	f.Fuzz(func(t *testing.T, p []byte) {
		r, err := DecodeReport(p)
		if err != nil {
			return
		}
		if again, err := DecodeReport(r.Append(nil)); err != nil || !reflect.DeepEqual(again, r) {
			t.Errorf("%+v comes back as %+v, %v", r, again, err)
		}
	})
}

// TestNothingIsRecorded: a node without a recorder calls the same methods.
func TestNothingIsRecorded(t *testing.T) {
	var r *Recorder
	s := r.Begin(session.ID{1}, "a", session.Trace{}, false)
	r.Enter(s, 0)
	r.Leave()
	r.Prepare(s, 0)
	r.Prepared(s, 0, ms)
	r.Arrived(ms)
	r.Took(s, 0, 1, 1, r.Arrival()+r.Now())
	r.Touch(s)
	r.Wait(s, Blocked, 0)
	r.Made(s, 0, 1, 1)
	r.Sealed()
	r.Synced(ms)
	r.Stored()
	r.Acked(0, 1)
	r.Left(s, false)
	if x := r.Report(session.ID{1}); x.Trace != nil {
		t.Errorf("it recorded %+v", x)
	}
}

// TestAFrameAllocatesNothing: what each frame costs is a few readings of the clock.
func TestAFrameAllocatesNothing(t *testing.T) {
	frame := oneFrame()
	frame()
	if n := testing.AllocsPerRun(1000, frame); n != 0 {
		t.Errorf("%.2f allocations for a frame", n)
	}
}

// oneFrame returns what a node records for a frame that is taken, passed through two roles, and sent on in a commit of its own.
func oneFrame() func() {
	began := time.Now()
	r := New(func() time.Duration { return time.Since(began) }, []string{"parser", "joiner"}, []Link{{"a-b", "a-1"}}, []Link{{"b-c", "c-1"}})
	s := r.Begin(session.ID{1}, "a", session.Trace{}, false)
	seq := uint64(0)
	return func() {
		r.Arrived(0)
		r.Took(s, 0, 65536, 65536, r.Arrival())
		r.Touch(s)
		r.Enter(s, 0)
		r.Enter(s, 1)
		r.Leave()
		r.Leave()
		seq++
		r.Made(s, 0, seq, 65536)
		r.Sealed()
		r.Synced(ms)
		r.Stored()
		r.Acked(0, seq)
	}
}

// BenchmarkFrame: with a commit for each frame, which is the most that a node records.
func BenchmarkFrame(b *testing.B) {
	frame := oneFrame()
	for b.Loop() {
		frame()
	}
}
