package client

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// deaf is a requester that answers only the nth request, and keeps every frame, as a socket may.
type deaf struct {
	nth  int
	kept [][]byte
}

func (d *deaf) Do(_ context.Context, req []byte) ([]byte, error) {
	d.kept = append(d.kept, req)
	if len(d.kept) < d.nth {
		return nil, errors.New("nobody there")
	}
	q, err := protocol.DecodeRequest(req)
	if err != nil {
		return nil, err
	}
	r := protocol.Reply{Type: protocol.OK, Lane: q.Lane, Seq: q.Seq}
	return r.Append(nil), nil
}

func (d *deaf) Close() error { return nil }

// laneOf returns a line that carries a chunk, and the request for it. Its client has no session, so what the line reports is ignored.
func laneOf(d *deaf, header string) (*line, *core.Request) {
	ended, end := context.WithCancel(context.Background())
	end()
	l := &line{client: &Client{ctx: ended}, req: d, giveUp: func() {}, from: &upload{spare: make(chan []byte, 1)},
		chunk: chunk{memory: append(make([]byte, headRoom), "1\n2\n"...)}}
	return l, &core.Request{Message: protocol.Request{Type: protocol.Chunk, Session: session.ID{1}, Token: session.Token{2}, Stream: "s",
		Lane: 1, Seq: 1,
		File: "a.csv", Line: 2, Header: []byte(header), Data: l.chunk.data()}}
}

// TestMemoryOfAChunkIsFreeOnlyIfNobodyCanHoldIt: if a request was sent twice, the first copy may still be under way.
func TestMemoryOfAChunkIsFreeOnlyIfNobodyCanHoldIt(t *testing.T) {
	for nth, free := range map[int]bool{1: true, 2: false} {
		l, r := laneOf(&deaf{nth: nth}, "h")
		for range nth {
			l.try(context.Background(), r)
			r.Again = true
		}
		select {
		case memory := <-l.from.spare:
			if (memory != nil) != free {
				t.Errorf("answered the %d. time: %d bytes are free", nth, len(memory))
			}
		case <-time.After(time.Minute):
			t.Errorf("answered the %d. time: the readers wait for ever", nth)
		}
	}
}

// TestAHeadThatIsTooLongForItsRoom: it is sent nevertheless.
func TestAHeadThatIsTooLongForItsRoom(t *testing.T) {
	for _, header := range []string{"h", strings.Repeat("h,", headRoom/2), strings.Repeat("h,", headRoom)} {
		d := &deaf{nth: 1}
		l, r := laneOf(d, header)
		l.try(context.Background(), r)
		want := r.Message
		want.Data = []byte("1\n2\n")
		if !bytes.Equal(d.kept[0], want.Append(nil)) {
			t.Errorf("a header of %d bytes: %.80q", len(header), d.kept[0])
		}
	}
}

// TestAnAnswerThatComesTooLateLeavesTheChunk: an answer arrives at the moment in which its try is given up. It does not count for the
// session, which has the chunk sent again. So the chunk must still be there.
func TestAnAnswerThatComesTooLateLeavesTheChunk(t *testing.T) {
	d := &deaf{nth: 1}
	l, q := laneOf(d, "a")
	again := *q
	again.Again = true
	l.asked = &again // as the session does while the first try is under way
	l.try(t.Context(), q)
	if len(l.from.spare) != 0 {
		t.Error("the readers have the memory of a chunk that is sent again")
	}
	l.asked, l.giveUp = nil, func() {} // taken, as next does
	l.try(t.Context(), &again)
	if len(d.kept) != 2 || len(d.kept[0]) == 0 || !bytes.Equal(d.kept[0], d.kept[1]) {
		t.Errorf("sent %q and then %q", d.kept[0], d.kept[1])
	}
	if memory := <-l.from.spare; memory != nil {
		t.Error("the readers write to memory that the first try may still be sending")
	}
}

// TestATryThatWasGivenUpBeforeItBegan: the first try of a request expired while the process was stopped. So the second one arrives before
// the lane has taken the first one, and there is no frame to send again.
func TestATryThatWasGivenUpBeforeItBegan(t *testing.T) {
	d := &deaf{nth: 1}
	l, q := laneOf(d, "a")
	l.giveUp, l.wake = nil, make(chan struct{}, 1)
	again := *q
	again.Again, again.Try = true, 2
	l.ask(q)
	l.ask(&again)
	taken := l.asked
	l.asked, l.giveUp = nil, func() {} // as next does
	l.try(t.Context(), taken)
	if want := q.Message.Append(nil); taken.Try != 2 || !bytes.Equal(d.kept[0], want) {
		t.Errorf("try %d sends %q, want %q", taken.Try, d.kept[0], want)
	}
}
