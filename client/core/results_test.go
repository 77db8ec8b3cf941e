package core

import (
	"errors"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

func part(n, offset uint64, last bool, values ...int64) protocol.Part {
	rows := protocol.NewRows(1)
	for _, v := range values {
		if err := rows.Add(protocol.Value{Kind: protocol.Int, Int: v}); err != nil {
			panic(err)
		}
	}
	return protocol.Part{N: n, Query: "numbers", Columns: []string{"n"}, Offset: offset, Rows: rows, Last: last}
}

func partsReply(complete bool, all ...protocol.Part) protocol.Reply {
	return protocol.Reply{Type: protocol.Parts, State: session.Running, Parts: all, Complete: complete}
}

// numbers takes the rows that have arrived.
func (d *driver) numbers() (all []int64, lasts int) {
	for _, r := range d.s.Rows() {
		for row := range r.Rows.All() {
			all = append(all, row[0].Int)
		}
		if r.Last {
			lasts++
		}
	}
	d.do(d.s.Taken)
	return all, lasts
}

// TestPartsOfTwoOutputs: the second output cuts its parts at other places. Each row arrives once, in its place.
func TestPartsOfTwoOutputs(t *testing.T) {
	d := uploaded(t, testConfig(), 1, 2)
	d.do(d.s.Results)
	d.answer("out1", protocol.Results, partsReply(false, part(1, 0, false, 0, 1, 2), part(2, 3, false, 3)))
	if _, asked := d.find("out1", protocol.Results); asked {
		t.Error("more was asked for before the rows were taken")
	}
	got, lasts := d.numbers()
	if q := d.request("out1", protocol.Results); q.After != 2 {
		t.Errorf("asks for parts after %d", q.After)
	}
	d.pass(2 * testTimeout) // the output is silent
	if q := d.request("out2", protocol.Results); q.After != 0 {
		t.Errorf("asks another output for its parts after %d", q.After)
	}
	d.answer("out2", protocol.Results, partsReply(false, part(1, 0, false, 0, 1), part(2, 2, true, 2, 3, 4)))
	more, ends := d.numbers()
	got, lasts = append(got, more...), lasts+ends
	d.answer("out2", protocol.Results, partsReply(true, part(2, 2, true, 2, 3, 4),
		protocol.Part{N: 3, Rejected: []protocol.Rejected{{Stream: "trips", Rows: 1}}}))
	if rows := d.s.Rows(); len(rows) != 1 || rows[0].Query != "" || rows[0].Rejected[0].Rows != 1 {
		t.Errorf("the last part is %+v", rows)
	}
	d.do(d.s.Taken)
	d.ends(nil)
	for i, n := range got {
		if int64(i) != n {
			t.Fatalf("rows %v", got)
		}
	}
	if len(got) != 5 || lasts != 1 {
		t.Errorf("rows %v, the last one %d times", got, lasts)
	}
}

// TestR17_ASupersededClientStopsAtOnce: this holds after the upload, too. An output that does not know of the takeover would still answer,
// and would drop the answer when it gets a close.
func TestR17_ASupersededClientStopsAtOnce(t *testing.T) {
	d := uploaded(t, testConfig(), 1, 1)
	d.do(d.s.Results)
	d.awaitPing("in1")
	d.answer("in1", protocol.Ping, protocol.Refuse(protocol.ErrSuperseded, "another client has it"))
	d.ends(protocol.ErrSuperseded)
}

// TestPartsWithAHole: parts of an answer with a hole between them are not an answer.
func TestPartsWithAHole(t *testing.T) {
	d := uploaded(t, testConfig(), 1, 1)
	d.do(d.s.Results)
	d.answer("out1", protocol.Results, partsReply(false, part(1, 0, false, 0), part(2, 2, true, 2)))
	d.ends(errRowsMissing)
	if got, _ := d.numbers(); len(got) != 1 || len(d.s.Rows()) > 0 {
		t.Errorf("rows %v came before the hole, and after they were taken there are %d", got, len(d.s.Rows()))
	}
	d.do(d.s.Results) // from the beginning
	if q := d.request("out1", protocol.Results); q.After != 0 {
		t.Errorf("asks for parts after %d", q.After)
	}
}

// TestNothingIsConcludedBeforeAllOutputsHaveAnswered: the other output may have what one output lost.
func TestNothingIsConcludedBeforeAllOutputsHaveAnswered(t *testing.T) {
	failed := protocol.Reply{Type: protocol.Parts, State: session.Failed, Reason: "node out1 lost its data"}
	expired := protocol.Refuse(protocol.ErrExpired, "kept for an hour")
	for name, lost := range map[string]protocol.Reply{"failed": failed, "expired": expired,
		"closed": protocol.Refuse(protocol.ErrClosed, "")} {
		d := uploaded(t, testConfig(), 1, 2)
		d.do(d.s.Results)
		d.answer("out1", protocol.Results, lost)
		d.goesOn()
		d.answer("out2", protocol.Results, partsReply(true, part(1, 0, true, 0)))
		d.numbers()
		if d.s.Pending() || d.s.Err() != nil {
			t.Errorf("%s: pending %v, %v", name, d.s.Pending(), d.s.Err())
		}
	}
	d := uploaded(t, testConfig(), 1, 2)
	d.do(d.s.Results)
	d.answer("out1", protocol.Results, failed)
	for range silentTries - 1 {
		d.pass(2 * testTimeout) // the other output is silent
		d.answer("in1", protocol.Info, about(1, 2))
		d.answer("out1", protocol.Results, failed)
		d.goesOn()
	}
	d.pass(2 * testTimeout)
	d.answer("in1", protocol.Info, about(1, 2))
	d.ends(protocol.ErrFailed)
}

// TestAnOutputThatKnowsNothing: it is asked again while the inputs know the session, and for a while after that.
func TestAnOutputThatKnowsNothing(t *testing.T) {
	unknown := protocol.Reply{Type: protocol.Refused, Err: protocol.Error{Code: protocol.ErrUnknownSession, RetryAfter: time.Second}}
	for state, want := range map[session.State]error{session.Running: nil, session.Done: protocol.ErrUnknownSession} {
		d := uploaded(t, testConfig(), 1, 1)
		d.do(d.s.Results)
		for range 8 {
			if !d.s.Pending() {
				break
			}
			d.answer("out1", protocol.Results, unknown)
			d.answer("in1", protocol.Ping, protocol.Reply{Type: protocol.OK, State: state})
			d.pass(5 * time.Second / 4)
		}
		if want != nil {
			d.ends(want)
			continue
		}
		d.answer("out1", protocol.Results, partsReply(true))
		d.ends(nil)
	}
}

// TestAnOutputThatIsAskedTooSoon: it is asked again some milliseconds later, and then after longer and longer pauses, up to unknownPause.
func TestAnOutputThatIsAskedTooSoon(t *testing.T) {
	d := uploaded(t, testConfig(), 1, 1)
	d.do(d.s.Results)
	for want := firstUnknownPause; want <= 8*unknownPause; want *= 2 {
		d.answer("out1", protocol.Results, protocol.Refuse(protocol.ErrUnknownSession, "never heard of it"))
		d.answer("in1", protocol.Ping, running)
		want := min(want, unknownPause)
		if pause := d.s.Alarm().Sub(d.now); pause < want*3/4 || pause > want*5/4 {
			t.Fatalf("it is asked again after %v, want %v and a random part", pause, want)
		}
		d.pass(want * 5 / 4)
	}
	d.answer("out1", protocol.Results, partsReply(true))
	d.ends(nil)
}

// TestR14_NoNodeKnowsTheSessionAnyMore: all nodes were restored to a time before the session. The error says what that means, instead of
// advice to look for the session.
func TestR14_NoNodeKnowsTheSessionAnyMore(t *testing.T) {
	d := uploaded(t, testConfig(), 1, 1)
	d.do(d.s.Results)
	d.answer("out1", protocol.Results, protocol.Refuse(protocol.ErrUnknownSession, "never heard of it"))
	d.answer("in1", protocol.Ping, protocol.Refuse(protocol.ErrUnknownSession, "never heard of it"))
	d.ends(protocol.ErrUnknownSession)
	if said := d.s.Err().Error(); !strings.Contains(said, "the node lost its data") || !strings.Contains(said, "run it again") {
		t.Errorf("the client is told %q", said)
	}
}

// TestAfterTheUploadTheOutputsDecide: an input may have forgotten the session, or report that it failed, while an output has the answer.
func TestAfterTheUploadTheOutputsDecide(t *testing.T) {
	ping := func(d *driver, reply protocol.Reply) {
		d.pass(testTimeout-time.Millisecond, "in1")
		d.answer("in1", protocol.Ping, reply)
	}
	d := uploaded(t, testConfig(), 1, 1)
	d.do(d.s.Results)
	for _, forgotten := range []protocol.Code{protocol.ErrUnknownSession, protocol.ErrClosed, protocol.ErrExpired} {
		ping(d, protocol.Refuse(forgotten, ""))
		d.answer("out1", protocol.Results, partsReply(false))
	}
	ping(d, protocol.Reply{Type: protocol.OK, State: session.Failed, Reason: "a disk was lost"})
	d.goesOn()
	d.answer("out1", protocol.Results, partsReply(true))
	d.ends(nil)

	d = uploaded(t, testConfig(), 1, 1)
	d.do(d.s.Results)
	ping(d, protocol.Reply{Type: protocol.OK, State: session.Failed, Reason: "a disk was lost"})
	d.pass(outputsDecide)
	d.ends(protocol.ErrFailed)
}

// TestAnOutputThatDeliversIsNotInterrupted: an input reports that the session failed. The output is not interrupted while parts arrive,
// while the caller takes its time, or when another output begins again with parts that have arrived. An output without the answer changes
// nothing.
func TestAnOutputThatDeliversIsNotInterrupted(t *testing.T) {
	d := uploaded(t, testConfig(), 1, 2)
	d.do(d.s.Results)
	d.awaitPing("in1")
	d.answer("in1", protocol.Ping, protocol.Reply{Type: protocol.OK, State: session.Failed, Reason: "a disk was lost"})
	deliver := func(output string, after time.Duration, state session.State, parts ...protocol.Part) {
		t.Helper()
		d.pass(after)
		r := partsReply(false, parts...)
		r.State = state
		d.answer(output, protocol.Results, r)
		d.goesOn()
	}
	deliver("out1", time.Second, session.Running, part(1, 0, false, 0))
	d.pass(3 * outputsDecide)
	d.goesOn()
	d.numbers()
	deliver("out1", 3*time.Second, session.Running, part(2, 1, false, 1))
	d.numbers()
	d.pass(2 * testTimeout) // the output is silent
	for range 4 {
		deliver("out2", time.Second/2, session.Done, part(1, 0, false, 0))
		deliver("out2", 3*time.Second, session.Done)
	}
	deliver("out2", 3*time.Second, session.Running)
	d.pass(outputsDecide - 3*time.Second - time.Millisecond)
	d.goesOn()
	d.pass(time.Millisecond)
	d.ends(protocol.ErrFailed)
}

// TestOutputsThatMoved: the client finds them by asking an input.
func TestOutputsThatMoved(t *testing.T) {
	d := uploaded(t, testConfig(), 1, 1)
	d.do(d.s.Results)
	d.pass(2 * testTimeout)
	moved := about(1, 1)
	moved.Outputs = []string{"elsewhere"}
	d.answer("in1", protocol.Info, moved)
	d.answer("elsewhere", protocol.Results, partsReply(true))
	d.ends(nil)
}

// TestResultsMayBeStoppedAndAskedForAgain: the second call continues after the rows that have arrived.
func TestResultsMayBeStoppedAndAskedForAgain(t *testing.T) {
	d := uploaded(t, testConfig(), 1, 1)
	d.do(d.s.Results)
	why := errors.New("no patience")
	d.s.Stop(why, d.now)
	d.act()
	d.ends(why)
	if len(d.under) > 0 {
		t.Errorf("still under way: %v", d.list())
	}
	d.do(d.s.Results)
	d.answer("out1", protocol.Results, partsReply(true))
	d.ends(nil)
}
