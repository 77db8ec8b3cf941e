package core

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/internal/awake"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

func isError(err, want error) bool { return errors.Is(err, want) }

// TestN10_OldRepliesArePassedOver: a reply to a try that was given up is not taken for the answer to the next request.
func TestN10_OldRepliesArePassedOver(t *testing.T) {
	d := opened(t, testConfig(), 1, 1)
	d.do(d.s.Upload)
	w := d.chunk("x\n")
	old := d.tries[w.Conn]
	d.pass(testTimeout + time.Millisecond)
	if d.tries[w.Conn] == old {
		t.Fatal("a silent try was not followed by another")
	}
	d.s.Reply(w.Conn, old, protocol.Reply{Type: protocol.OK, Lane: 0, Seq: 1}, d.now)
	d.act()
	if d.s.lanes[w.Lane].stage != loaded {
		t.Error("an old reply was taken for the new one")
	}
	d.acked()
	if d.s.lanes[w.Lane].stage == loaded {
		t.Error("the reply to the last try was not taken")
	}
	d.s.Reply(w.Conn, d.tries[w.Conn], protocol.Reply{Type: protocol.OK, Lane: 0, Seq: 1}, d.now) // no request is under way there
	d.goesOn()
}

// TestN10_TriesGrowAndSayTheSame: the time of a try grows up to the longest, and each try repeats the request with the same number.
func TestN10_TriesGrowAndSayTheSame(t *testing.T) {
	d := opened(t, testConfig(), 1, 1)
	d.do(d.s.Upload)
	w := d.chunk("x\n")
	first := d.under[w.Conn]
	for n, timeouts := range []int{1, 2, 4, 8, 8, 8} {
		before := d.tries[w.Conn]
		d.pass(time.Duration(timeouts)*testTimeout - time.Millisecond)
		if d.tries[w.Conn] != before {
			t.Errorf("try %d was given up before %d timeouts", n+1, timeouts)
		}
		d.pass(time.Millisecond)
		if d.tries[w.Conn] != before+1 || !reflect.DeepEqual(d.under[w.Conn], first) {
			t.Errorf("after try %d: %d tries, %+v", n+1, d.tries[w.Conn], d.under[w.Conn])
		}
	}
	if p := d.s.Progress(d.now); !p.HeldBack || len(p.Silent) > 0 || p.Retries != 6 {
		t.Errorf("an input that answers pings alone: %+v", p)
	}
	d.acked()
	d.chunk("y\n")
	if q := d.request("in1", protocol.Chunk); q.Seq != 1 || q.Lane != 1 {
		t.Errorf("the next chunk is %d of lane %d", q.Seq, q.Lane)
	}
}

// TestN10_RefusedConnectionsAreNotTriedWithoutAPause: a connection that was lost is tried again at once.
func TestN10_RefusedConnectionsAreNotTriedWithoutAPause(t *testing.T) {
	d := opened(t, testConfig(), 1, 1)
	d.do(d.s.Upload)
	w := d.chunk("x\n")
	broken := func() uint64 {
		d.s.Broken(w.Conn, d.tries[w.Conn], errors.New("refused"), d.now)
		d.act()
		return d.tries[w.Conn]
	}
	before := d.tries[w.Conn]
	if broken() != before {
		t.Error("tried again at once")
	}
	if d.pass(2 * shortestTry); d.tries[w.Conn] != before+1 {
		t.Error("not tried again")
	}
	if d.pass(time.Second); broken() != before+2 {
		t.Error("a connection that broke later waits")
	}
	garbage := fmt.Errorf("no reply: %w", protocol.ErrInvalid)
	d.s.Broken(w.Conn, d.tries[w.Conn], garbage, d.now)
	d.ends(garbage)
}

// TestN10_AClientGivesUpWhenNothingAnswers: it does not give up while any node answers.
func TestN10_AClientGivesUpWhenNothingAnswers(t *testing.T) {
	cfg := testConfig()
	cfg.GiveUpAfter = 20 * time.Second
	d := opened(t, cfg, 2, 1)
	d.do(d.s.Upload)
	d.chunk("x\n")
	d.pass(time.Minute, "in2")
	d.goesOn() // the first input answers
	d.pass(time.Minute, "in1", "in2")
	d.ends(ErrNoCluster)
	if d.s.Leave(d.s.Err(), false, d.now); len(d.under) > 0 {
		t.Errorf("a cluster that is not there is told %v", d.list())
	}
}

// TestM6_AClientThatDidNotRunGivesNobodyUp: five minutes in which its process was stopped are not silence of the cluster. Real silence
// afterwards is, and what was counted before still counts.
func TestM6_AClientThatDidNotRunGivesNobodyUp(t *testing.T) {
	cfg := testConfig()
	d := discovered(t, cfg, 1, 1)
	real, clock := d.now, awake.NewClock(500*time.Millisecond)
	clock.Read(real)
	runs := func(span, step time.Duration) {
		for end := real.Add(span); real.Before(end); {
			real = real.Add(step)
			shows, slept := clock.Read(real)
			if slept {
				d.s.Woke(shows)
			}
			d.pass(shows.Sub(d.now), "in1")
		}
	}
	d.do(d.s.Open)
	runs(cfg.GiveUpAfter/2, 250*time.Millisecond)
	runs(5*time.Minute, 5*time.Minute)
	d.goesOn()
	runs(cfg.GiveUpAfter/4, 250*time.Millisecond)
	d.goesOn()
	runs(cfg.GiveUpAfter, 250*time.Millisecond)
	d.ends(ErrNoCluster)
	if err := d.s.Err(); !strings.Contains(err.Error(), cfg.GiveUpAfter.String()) {
		t.Errorf("it ends with %v", err)
	}
}

// TestM6_AClientThatWokePingsAtOnce: the inputs have heard nothing while its process was stopped.
func TestM6_AClientThatWokePingsAtOnce(t *testing.T) {
	d := opened(t, testConfig(), 2, 1)
	d.s.Woke(d.now)
	if at := d.s.Alarm(); !at.Equal(d.now) {
		t.Fatalf("the next alarm is at %v, %v from now", at, at.Sub(d.now))
	}
	d.s.Tick(d.now)
	d.act()
	for _, in := range []string{"in1", "in2"} {
		d.answer(in, protocol.Ping, running)
	}
	d.do(d.s.Upload)
	d.s.Stop(errors.New("the user stops it"), d.now)
	if d.s.Woke(d.now); !d.s.Alarm().IsZero() {
		t.Error("a session that is over is pinged again")
	}
}

// TestN10_ARefusalIsNotSilence: one entry refuses the client and another one is away, so the error of the client names the refusal.
func TestN10_ARefusalIsNotSilence(t *testing.T) {
	cfg := testConfig()
	cfg.Entries, cfg.GiveUpAfter = []string{"in1", "in2"}, 20*time.Second
	d := newDriver(t, cfg)
	d.s.Discover(d.now)
	d.act()
	refused := fmt.Errorf("%w: in1 does not accept the key", ErrRefused)
	for range 60 {
		if c, asks := d.find("in1", protocol.Info); asks {
			d.s.Broken(c, d.tries[c], refused, d.now)
			d.act()
		}
		if d.pass(time.Second); d.s.Err() != nil {
			break
		}
	}
	d.ends(ErrNoCluster)
	if err := d.s.Err(); !errors.Is(err, ErrRefused) || strings.Contains(err.Error(), "posta up") {
		t.Errorf("it ends with %v", err)
	}
}

// TestB13_OpenedInputsAreKeptAlive: meanwhile the client waits at a later input that is busy, silent, or down.
func TestB13_OpenedInputsAreKeptAlive(t *testing.T) {
	for name, wait := range map[string]func(*driver){
		"hangs": func(d *driver) { d.pass(30 * time.Second) },
		"busy": func(d *driver) {
			for range 20 {
				d.answer("in2", protocol.Open, protocol.Reply{Type: protocol.Refused,
					Err: protocol.Error{Code: protocol.ErrBusy, RetryAfter: 1500 * time.Millisecond}})
				d.pass(1500 * time.Millisecond * 5 / 4)
			}
		},
	} {
		d := discovered(t, testConfig(), 2, 1)
		d.do(d.s.Open)
		d.answer("in1", protocol.Open, openedReply())
		wait(d)
		if n := d.count("in1", protocol.Ping); n < 20 {
			t.Errorf("%s: in 30 s the first input was pinged %d times", name, n)
		}
		if d.count("in2", protocol.Ping) > 0 {
			t.Errorf("%s: an input that has not opened the session was pinged", name)
		}
		d.answer("in2", protocol.Open, openedReply())
		d.ends(nil)
	}
}

// TestB13_AnInputIsPingedAsOftenAsItSays: this holds before all inputs have opened the session, too.
func TestB13_AnInputIsPingedAsOftenAsItSays(t *testing.T) {
	d := discovered(t, testConfig(), 2, 1)
	d.do(d.s.Open)
	short := openedReply()
	short.ClientTimeout = time.Second
	d.answer("in1", protocol.Open, short)
	d.pass(30 * time.Second) // the second one hangs
	if n := d.count("in1", protocol.Ping); n < 90 {
		t.Errorf("an input that bears a second of silence was pinged %d times in 30 s", n)
	}
}

// TestB13_AnEndIsSaidAsOftenAsAPing: while an end waits for its answer there are no pings, so it is repeated as often as they would be. An
// input that hears nothing for limits.client_timeout gives the client up.
func TestB13_AnEndIsSaidAsOftenAsAPing(t *testing.T) {
	d := opened(t, testConfig(), 1, 1)
	d.do(d.s.Upload)
	d.drain()
	d.request("in1", protocol.End)
	for range 10 {
		before := d.count("in1", protocol.End)
		d.pass(openedReply().ClientTimeout / 2)
		if d.count("in1", protocol.End) == before {
			t.Fatalf("after %v no end was said for %v", d.now.Sub(d.began), openedReply().ClientTimeout/2)
		}
	}
}

// TestR14_PingsSayWhatWasAcknowledged: each ping names what the input that it goes to has acknowledged.
func TestR14_PingsSayWhatWasAcknowledged(t *testing.T) {
	cfg := testConfig()
	cfg.Lanes = 3
	d := opened(t, cfg, 2, 1)
	d.do(d.s.Upload)
	for range 3 {
		d.chunk("x\n")
	}
	ping := func(at string) protocol.Request {
		t.Helper()
		d.awaitPing(at)
		q := d.request(at, protocol.Ping)
		d.answer(at, protocol.Ping, running)
		return q
	}
	if q := ping("in1"); len(q.Lanes) > 0 || q.Stream != "" || q.Token != cfg.Token {
		t.Errorf("before anything was acknowledged: %+v", q)
	}
	d.acked()
	if q := ping("in1"); !slices.Equal(q.Lanes, []protocol.LaneSeq{{Lane: 0, Seq: 1}, {Lane: 2, Seq: 1}}) || q.Stream != "" {
		t.Errorf("the first input is told %+v", q)
	}
	if q := ping("in2"); !slices.Equal(q.Lanes, []protocol.LaneSeq{{Lane: 1, Seq: 1}}) {
		t.Errorf("the second input is told %+v", q)
	}
	d.drain()
	d.answer("in1", protocol.End, fine) // the other input takes its time
	if q := ping("in1"); q.Stream != "stations" {
		t.Errorf("an input that has acknowledged an end is told %q", q.Stream)
	}
}

// TestR17_EndsSayExactNumbers: an end is sent when each chunk is acknowledged. Facts wait for the end of the reference data at all inputs
// (R11).
func TestR17_EndsSayExactNumbers(t *testing.T) {
	cfg := testConfig()
	cfg.Lanes = 3
	d := opened(t, cfg, 2, 1)
	d.do(d.s.Upload)
	d.chunk("a\n")
	d.chunk("b\n")
	d.drain()
	if d.count("in1", protocol.End)+d.count("in2", protocol.End) > 0 {
		t.Fatal("an end was said before the chunks were acknowledged")
	}
	d.acked()
	d.chunk("c\n")
	d.acked()
	d.drain()
	if q := d.request("in1", protocol.End); q.Stream != "stations" || !slices.Equal(q.Lanes, []protocol.LaneSeq{{Lane: 0, Seq: 2}}) {
		t.Errorf("the first input hears %+v", q)
	}
	if q := d.request("in2", protocol.End); !slices.Equal(q.Lanes, []protocol.LaneSeq{{Lane: 1, Seq: 1}}) {
		t.Errorf("the second input hears %+v", q)
	}
	d.answer("in1", protocol.End, fine)
	if len(d.wants) > 0 {
		t.Fatal("facts were wanted before the reference stream had ended everywhere")
	}
	d.answer("in2", protocol.End, fine)
	if len(d.wants) != 3 || d.wants[0].Stream != 1 {
		t.Fatalf("wanted: %+v", d.wants)
	}
	d.chunk("d\n")
	if q := d.request("in1", protocol.Chunk); q.Seq != 3 || q.Stream != "trips" {
		t.Errorf("numbers continue over all streams: %+v", q)
	}
	d.acked()
	d.drain()
	d.answer("in1", protocol.End, fine)
	d.answer("in2", protocol.End, fine)
	if d.ends(nil); d.s.Phase() != Uploaded {
		t.Errorf("the phase is %d", d.s.Phase())
	}
}

// TestHowLongAStreamTakes: a stream takes from its beginning to its end at every input, when the next one begins.
func TestHowLongAStreamTakes(t *testing.T) {
	d := opened(t, testConfig(), 2, 1)
	d.pass(time.Second) // before the upload
	d.do(d.s.Upload)
	d.chunk("a\n")
	d.pass(3 * time.Second)
	d.acked()
	d.drain()
	d.answer("in1", protocol.End, fine)
	d.pass(time.Second)
	if p := d.s.Progress(d.now).Streams; p[0].Took != 0 || p[0].Ended {
		t.Errorf("before its end at all inputs a stream has %+v", p[0])
	}
	d.answer("in2", protocol.End, fine)
	d.drain()
	d.pass(7 * time.Second)
	d.answer("in1", protocol.End, fine)
	d.answer("in2", protocol.End, fine)
	if p := d.s.Progress(d.now).Streams; p[0].Took != 4*time.Second || p[1].Took != 7*time.Second || !p[1].Ended {
		t.Errorf("the streams have %+v, want 4 s and 7 s", p)
	}
}

// TestR17_WhoseSessionItIs: it decides what the client sends at the end.
func TestR17_WhoseSessionItIs(t *testing.T) {
	refusal := func(code protocol.Code) error { return fmt.Errorf("open: %w", &protocol.Error{Code: code}) }
	for name, c := range map[string]struct {
		err  error
		keep bool
		want protocol.RequestType
	}{
		"an answer":              {nil, false, protocol.Close},
		"an answer that is kept": {nil, true, ""},
		"an interrupt":           {errors.New("interrupted"), true, protocol.Cancel},
		"a failure":              {refusal(protocol.ErrFailed), false, protocol.Cancel},
		"another's":              {refusal(protocol.ErrInUse), false, ""},
		"another's, over":        {refusal(protocol.ErrFinished), false, ""},
		"taken over":             {refusal(protocol.ErrSuperseded), false, ""},
		"not permitted":          {refusal(protocol.ErrForbidden), false, ""},
		"another run's":          {ErrInterrupted, false, ""},
		"no cluster":             {ErrNoCluster, false, ""},
	} {
		d := opened(t, testConfig(), 2, 1)
		d.s.Leave(c.err, c.keep, d.now)
		d.act()
		for _, node := range []string{"in1", "in2", "out1"} {
			if c.want != "" {
				d.answer(node, c.want, fine)
			}
		}
		if done, err := d.s.Told(); !done || err != nil || c.want == "" && d.count("in1", protocol.Close)+d.count("in1", protocol.Cancel) > 0 {
			t.Errorf("%s: said %v, done %v, %v", name, d.sent, done, err)
		}
		d.pass(10 * time.Second)
		if c.want != "" && len(d.under) > 0 {
			t.Errorf("%s: after the end there is %v", name, d.list())
		}
	}
}

// TestR17_AnInterruptDuringTheFirstOpen: the first input has not answered. The client at once cancels what it may have opened, because the
// session would keep its place until limits.client_timeout. If another run with the same token, or one that takes the session over, may
// need the session, it is left alone.
func TestR17_AnInterruptDuringTheFirstOpen(t *testing.T) {
	for name, c := range map[string]struct{ reopens, takeover, cancels bool }{
		"a token of its own":   {cancels: true},
		"another run's token":  {reopens: true},
		"a session taken over": {takeover: true},
	} {
		cfg := testConfig()
		cfg.Reopens, cfg.Takeover = c.reopens, c.takeover
		d := discovered(t, cfg, 1, 1)
		d.do(d.s.Open)
		why := errors.New("interrupted")
		d.s.Stop(why, d.now)
		d.act()
		d.ends(why)
		d.s.Leave(why, false, d.now)
		d.act()
		if got := d.count("in1", protocol.Cancel) > 0; got != c.cancels {
			t.Errorf("%s: cancelled: %v", name, got)
		}
	}
}

// TestR17_ATakeoverShowsWhatTheFirstInputAnswered: it waits while the other client lives.
func TestR17_ATakeoverShowsWhatTheFirstInputAnswered(t *testing.T) {
	cfg := testConfig()
	cfg.Takeover = true
	d := discovered(t, cfg, 2, 1)
	d.do(d.s.Open)
	if q := d.request("in1", protocol.Open); !q.Takeover || len(q.Openers) > 0 {
		t.Errorf("the first input is asked %+v", q)
	}
	alive := protocol.Reply{Type: protocol.Refused, Err: protocol.Error{Code: protocol.ErrInUse, RetryAfter: time.Second}}
	d.answer("in1", protocol.Open, alive)
	d.pass(2 * time.Second)
	done := openedReply()
	done.Openers, done.Ended = session.Openers{{1}, {2}}, []string{"stations", "trips"}
	d.answer("in1", protocol.Open, done)
	if q := d.request("in2", protocol.Open); !q.Takeover || !slices.Equal(q.Openers, done.Openers) {
		t.Errorf("the second input is asked %+v", q)
	}
	d.answer("in2", protocol.Open, done)
	d.ends(nil)
	if d.s.Phase() != Uploaded {
		t.Errorf("the phase is %d", d.s.Phase())
	}
}

// TestN10_ATakeoverDoesNotAskAtOnce: this holds however little of the former client's time is left.
func TestN10_ATakeoverDoesNotAskAtOnce(t *testing.T) {
	for _, left := range []time.Duration{time.Nanosecond, time.Millisecond, shortestPause} {
		cfg := testConfig()
		cfg.Takeover = true
		d := discovered(t, cfg, 1, 1)
		d.do(d.s.Open)
		d.answer("in1", protocol.Open, protocol.Reply{Type: protocol.Refused, Err: protocol.Error{Code: protocol.ErrInUse, RetryAfter: left}})
		if d.pass(shortestPause / 2); len(d.under) > 0 {
			t.Errorf("%v before the time is over it is asked again at once: %v", left, d.list())
		}
		d.pass(shortestPause)
		d.request("in1", protocol.Open)
	}
}

// TestResume: what inputs report about an existing session decides what the session needs.
func TestResume(t *testing.T) {
	blank, some, all, done := openedReply(), openedReply(), openedReply(), openedReply()
	some.Lanes = []protocol.LaneSeq{{Lane: 0, Seq: 1}}
	all.Lanes, all.Ended = some.Lanes, []string{"stations", "trips"}
	done.State = session.Done
	for name, c := range map[string]struct {
		first, second protocol.Reply
		err           error
		phase         Phase
	}{
		"new":           {blank, blank, nil, Open},
		"begun":         {some, blank, ErrInterrupted, MaybeOpen},
		"sent in part":  {all, some, ErrInterrupted, NotOpen},
		"sent":          {all, all, nil, Uploaded},
		"over":          {done, all, nil, Uploaded},
		"over, of late": {all, done, nil, Uploaded},
	} {
		cfg := testConfig()
		cfg.Reopens = true
		d := discovered(t, cfg, 2, 1)
		d.do(d.s.Open)
		d.answer("in1", protocol.Open, c.first)
		d.answer("in2", protocol.Open, c.second)
		if d.ends(c.err); d.s.Phase() != c.phase {
			t.Errorf("%s: the phase is %d", name, d.s.Phase())
		}
	}
}

// TestR17_AnEndThatSomeInputsGotIsSentToAll: the former client died while it sent the end of a stream. An input that got the end from that
// client answers last, and its answer must not count for the next request.
func TestR17_AnEndThatSomeInputsGotIsSentToAll(t *testing.T) {
	for ended, rest := range map[string]int{"stations": 2, "trips": 1} {
		cfg := testConfig()
		cfg.Resume, cfg.Reopens = true, true
		d := discovered(t, cfg, 2, 1)
		d.do(d.s.Open)
		d.answer("in1", protocol.Ping, running)
		first, second := openedReply(), openedReply()
		first.Lanes = []protocol.LaneSeq{{Lane: 0, Seq: 1}}
		for _, stream := range openedReply().Streams {
			second.Ended = append(second.Ended, stream.Name)
			if stream.Name == ended {
				break
			}
			first.Ended = append(first.Ended, stream.Name)
		}
		d.answer("in1", protocol.Open, first)
		d.answer("in2", protocol.Open, second)
		d.ends(nil)
		d.do(d.s.Upload)
		for range rest {
			d.drain()
			said := d.request("in2", protocol.End).Stream
			d.answer("in1", protocol.End, fine)
			if d.goesOn(); len(d.wants) > 0 {
				t.Fatalf("%s: the next stream begins before in2 has answered that %s has ended", ended, said)
			}
			d.answer("in2", protocol.End, fine)
		}
		if d.ends(nil); d.s.Phase() != Uploaded || d.count("in1", protocol.End) != rest || d.count("in2", protocol.End) != rest {
			t.Errorf("%s: phase %d after %v", ended, d.s.Phase(), d.sent)
		}
	}
}

// TestOpenFollowsAClusterThatChanged: the cluster changed while the client waited. The client begins again.
func TestOpenFollowsAClusterThatChanged(t *testing.T) {
	d := discovered(t, testConfig(), 1, 1)
	d.do(d.s.Open)
	r, now := openedReply(), about(2, 2)
	r.Inputs, r.Outputs = now.Inputs, now.Outputs
	d.answer("in1", protocol.Open, r)
	d.answer("in1", protocol.Open, r)
	d.answer("in2", protocol.Open, r)
	d.ends(nil)
	if got := d.s.About(); len(got.Inputs) != 2 || len(got.Outputs) != 2 {
		t.Errorf("it knows %v and %v", got.Inputs, got.Outputs)
	}
	if slices.Sort(d.at); !slices.Equal(d.at, []string{"in1", "in1", "in2", "out1", "out2"}) { // the entry, and each node once
		t.Errorf("connected to %v", d.at)
	}
}

// TestAnInputThatKnowsNothingIsExplained: the outputs explain it, or another input, or nothing does.
func TestAnInputThatKnowsNothingIsExplained(t *testing.T) {
	lost := protocol.Refuse(protocol.ErrUnknownSession, "never heard of it")
	for name, c := range map[string]struct {
		explain func(*driver)
		want    protocol.Code
	}{
		"by an output": {func(d *driver) {
			d.answer("out1", protocol.Results, protocol.Refuse(protocol.ErrUnknownSession, ""))
			d.answer("out2", protocol.Results, protocol.Reply{Type: protocol.Parts, State: session.Failed, Reason: "node in1 lost its data"})
		}, protocol.ErrFailed},
		"by an input": {func(d *driver) {
			d.awaitPing("in2")
			d.answer("in2", protocol.Ping, protocol.Reply{Type: protocol.OK, State: session.Failed, Reason: "node in1 lost its data"})
		}, protocol.ErrFailed},
		"by nobody": {func(d *driver) {
			d.awaitPing("in2")
			d.answer("in2", protocol.Ping, lost)
			d.goesOn()
			d.pass(explainTimeout)
		}, protocol.ErrUnknownSession},
	} {
		d := opened(t, testConfig(), 2, 2)
		d.do(d.s.Upload)
		d.chunk("x\n")
		d.chunk("y\n")
		d.answer("in1", protocol.Chunk, lost)
		if d.goesOn(); d.count("in2", protocol.Chunk) != 1 || len(d.wants) > 0 {
			t.Errorf("%s: the upload continues: %v", name, d.sent)
		}
		c.explain(d)
		d.ends(c.want)
		if text := d.s.Err().Error(); c.want == protocol.ErrFailed != strings.Contains(text, "lost its data") && c.want == protocol.ErrFailed {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestCancelBesideATask: the task that it interrupts continues afterwards, and gets the result of the cancel.
func TestCancelBesideATask(t *testing.T) {
	d := opened(t, testConfig(), 1, 1)
	d.do(d.s.Upload)
	d.drain()
	d.request("in1", protocol.End)
	d.s.Tell(protocol.Cancel, false, d.now)
	d.act()
	d.answer("in1", protocol.Cancel, fine)
	d.answer("in1", protocol.End, protocol.Refuse(protocol.ErrCancelled, ""))
	d.ends(protocol.ErrCancelled)
	if done, _ := d.s.Told(); done {
		t.Error("the output has not answered")
	}
	d.pass(EndTimeout)
	if done, err := d.s.Told(); !done || err == nil || !strings.Contains(err.Error(), "out1") || strings.Contains(err.Error(), "in1") {
		t.Errorf("done %v: %v", done, err)
	}
}

// TestCancelWhileAnOutputLeaves: a cancel does not wait for an output that has left the cluster.
func TestCancelWhileAnOutputLeaves(t *testing.T) {
	d := uploaded(t, testConfig(), 1, 1)
	d.do(d.s.Results)
	d.pass(2 * testTimeout) // the output is silent, so the client asks the input for other outputs
	d.request("in1", protocol.Info)
	d.s.Tell(protocol.Cancel, false, d.now)
	d.act()
	d.answer("in1", protocol.Cancel, fine)
	moved := about(1, 1)
	moved.Outputs = []string{"elsewhere"}
	d.answer("in1", protocol.Info, moved)
	d.pass(EndTimeout)
	if done, err := d.s.Told(); !done || err == nil || !strings.Contains(err.Error(), "out1") {
		t.Errorf("done %v: %v", done, err)
	}
}

// TestR17_CancelStopsWhenTheSessionIsAnothers: a node answers that the session was taken over, and the other nodes get no further cancel.
func TestR17_CancelStopsWhenTheSessionIsAnothers(t *testing.T) {
	d := opened(t, testConfig(), 2, 1)
	d.s.Tell(protocol.Cancel, false, d.now)
	d.act()
	d.answer("in1", protocol.Cancel, protocol.Refuse(protocol.ErrSuperseded, "another client has it"))
	if done, err := d.s.Told(); !done || !errors.Is(err, protocol.ErrSuperseded) || len(d.under) > 0 {
		t.Errorf("done %v, %v; under way are %v", done, err, d.list())
	}
}

// TestSessionsOfAllNodes: they are listed in the order of the nodes, whichever answers first.
func TestSessionsOfAllNodes(t *testing.T) {
	d := discovered(t, testConfig(), 2, 1)
	d.do(d.s.List)
	for _, node := range []string{"out1", "in1"} {
		d.answer(node, protocol.Sessions, protocol.Reply{Type: protocol.Listed, Node: node,
			Sessions: []protocol.SessionInfo{{Analysis: "bikes"}}})
	}
	if done, _, _ := d.s.Listed(); done {
		t.Error("an input has not answered")
	}
	d.pass(testTimeout)
	done, all, err := d.s.Listed()
	if !done || len(all) != 2 || all[0].Node != "in1" || all[1].Node != "out1" || err == nil || !strings.Contains(err.Error(), "in2") {
		t.Errorf("%v, %+v, %v", done, all, err)
	}
}

// TestR14_AnInputThatLostAnEndIsAskedWhy: an input's log was set back, and it has lost the end of a stream. The next request looks wrong to
// it. A ping says that the input had acknowledged the end, so the client gets the true reason and no complaint about its request.
func TestR14_AnInputThatLostAnEndIsAskedWhy(t *testing.T) {
	for _, kind := range []protocol.RequestType{protocol.Chunk, protocol.End} {
		d := opened(t, testConfig(), 1, 1)
		d.do(d.s.Upload)
		d.chunk("x\n")
		d.acked()
		d.drain()
		d.answer("in1", protocol.End, fine)
		ended := d.s.pingTo(d.s.inputs[0]).Stream
		d.chunk("x\n")
		if kind == protocol.End {
			d.acked()
			d.drain()
		}
		d.answer("in1", kind, protocol.Refuse(protocol.ErrBadRequest, "end that one first"))
		d.goesOn()
		if said := d.request("in1", protocol.Ping); said.Stream != ended || ended == "" {
			t.Errorf("%s: the ping says that %q has ended, not %q", kind, said.Stream, ended)
		}
		d.answer("in1", protocol.Ping, protocol.Reply{Type: protocol.OK, State: session.Failed, Reason: "node in1 lost its data"})
		d.ends(protocol.ErrFailed)
	}
}

// TestR14_AnInputThatLostAChunkIsAskedWhy: an input lacks a chunk that it has acknowledged, and refuses the next one. The client is told
// that data was lost, and not only that there is a gap, about which no user can do anything.
func TestR14_AnInputThatLostAChunkIsAskedWhy(t *testing.T) {
	for _, kind := range []protocol.RequestType{protocol.Chunk, protocol.End} {
		d := opened(t, testConfig(), 1, 1)
		d.do(d.s.Upload)
		d.chunk("x\n")
		d.acked()
		if kind == protocol.Chunk {
			d.chunk("y\n")
		} else {
			d.drain()
		}
		d.answer("in1", kind, protocol.Refuse(protocol.ErrGap, "chunk 1 is missing"))
		d.goesOn()
		if said := d.request("in1", protocol.Ping); !slices.Equal(said.Lanes, []protocol.LaneSeq{{Lane: 0, Seq: 1}}) {
			t.Errorf("%s: the ping says that %v were acknowledged", kind, said.Lanes)
		}
		d.answer("in1", protocol.Ping, protocol.Reply{Type: protocol.OK, State: session.Failed, Reason: "node in1 lost its data"})
		d.ends(protocol.ErrFailed)
	}
}

// TestR14_AnInputForgetsBeforeTheNextOneOpens: the error says what that means.
func TestR14_AnInputForgetsBeforeTheNextOneOpens(t *testing.T) {
	d := discovered(t, testConfig(), 2, 1)
	d.do(d.s.Open)
	d.answer("in1", protocol.Open, openedReply())
	d.awaitPing("in1")
	d.answer("in1", protocol.Ping, protocol.Refuse(protocol.ErrUnknownSession, "never heard of it"))
	d.ends(protocol.ErrUnknownSession)
	if said := d.s.Err().Error(); !strings.Contains(said, "run it again") {
		t.Errorf("the client is told %q", said)
	}
}
