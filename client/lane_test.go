package client

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// deaf is a requester that answers only the nth time it is asked, and keeps every frame as a socket may.
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

func laneOf(d *deaf) *lane {
	return &lane{id: 1, request: protocol.Request{Type: protocol.Chunk, Session: session.ID{1}, Token: session.Token{2}}, conn: &conn{req: d, turn: make(chan struct{}, 1), clusterReply: newLastReply(), ownReply: newLastReply(), timeout: time.Second,
		giveUpAfter: -1, retries: new(atomic.Uint64)}}
}

// TestMemoryOfAChunkIsFreeOnlyIfNobodyCanHoldIt: one that had to be said twice may still be on its way the first time.
func TestMemoryOfAChunkIsFreeOnlyIfNobodyCanHoldIt(t *testing.T) {
	for nth, free := range map[int]bool{1: true, 2: false} {
		d := &deaf{nth: nth}
		p := chunk{file: "a.csv", header: []byte("h"), line: 2, memory: append(make([]byte, headRoom), "1\n2\n"...)}
		got, err := laneOf(d).send(context.Background(), "s", p)
		if err != nil || got != free {
			t.Errorf("answered the %d. time: free %v, %v", nth, got, err)
		}
	}
}

// TestAHeadThatIsTooLongForItsRoom is sent all the same.
func TestAHeadThatIsTooLongForItsRoom(t *testing.T) {
	for _, header := range []string{"h", strings.Repeat("h,", headRoom/2), strings.Repeat("h,", headRoom)} {
		d := &deaf{nth: 1}
		p := chunk{file: "a.csv", header: []byte(header), line: 2, memory: append(make([]byte, headRoom), "1\n2\n"...)}
		if _, err := laneOf(d).send(context.Background(), "s", p); err != nil {
			t.Fatal(err)
		}
		want := protocol.Request{Type: protocol.Chunk, Session: session.ID{1}, Token: session.Token{2}, Stream: "s", Lane: 1, Seq: 1, File: "a.csv", Line: 2, Header: []byte(header), Data: []byte("1\n2\n")}
		if !bytes.Equal(d.kept[0], want.Append(nil)) {
			t.Errorf("a header of %d bytes: %.80q", len(header), d.kept[0])
		}
	}
}
