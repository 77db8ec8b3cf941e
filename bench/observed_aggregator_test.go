package bench

import (
	"strings"
	"testing"
	"time"

	"posta.dev/posta/nodes/aggregator"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
)

// ears is a host that records the answers of an observed aggregator, and when each may be sent.
type ears struct {
	role.Host
	stored []role.Peer
}

func (e *ears) ReplyStored(to role.Peer, _ []byte) { e.stored = append(e.stored, to) }

// partial returns a partial result of chunks, as a joiner folds it.
func partial(rows map[int64]int64) role.Message {
	t := fold.NewTable(&rowsByChunkTables[0])
	for chunk, n := range rows {
		t.AddSum(t.Row(t.Key().Int(chunk)), 0, n)
	}
	return role.Message{Payload: new(role.PartialEncoder).Encode(0, t, t.Rows())}
}

// TestWitness_ReportsWhenAllRowsOfTheChunkAreTaken: the reply is given once all rows of the chunk are accepted, in whatever
// partial results they arrive, and it waits for the disk. A row that is counted twice fails the session.
func TestWitness_ReportsWhenAllRowsOfTheChunkAreTaken(t *testing.T) {
	w := &observedAggregator{Aggregator: aggregator.New(), watch: map[session.ID]bool{}, seen: map[int64]int64{}}
	host := &ears{}
	w.Attach(host)
	id := session.New()
	if err := w.Open(role.Session{ID: id, Analysis: rowsByChunk}); err != nil {
		t.Fatal(err)
	}
	take := func(rows map[int64]int64) error {
		durable, err := w.Take(id, partial(rows), nil)
		if err == nil && !durable {
			t.Error("the effect is not recorded")
		}
		return err
	}
	wait := func(from role.Peer, chunk int) {
		if !w.Request(time.Time{}, &role.Request{From: from, Body: encodeWatch(chunk)}) {
			t.Error("the question was not understood")
		}
	}
	expect := func(what string, peers ...role.Peer) {
		t.Helper()
		if len(host.stored) != len(peers) || len(peers) > 0 && host.stored[len(peers)-1] != peers[len(peers)-1] {
			t.Errorf("%s: told %v, want %v", what, host.stored, peers)
		}
	}
	wait(7, 1)
	for _, rows := range []map[int64]int64{{1: 1}, {1: chunkRows - 2}, {2: chunkRows}} {
		if err := take(rows); err != nil {
			t.Fatal(err)
		}
	}
	expect("one row is missing, and another chunk is whole")
	if err := take(map[int64]int64{1: 1, 3: 5}); err != nil {
		t.Fatal(err)
	}
	expect("the last row", 7)
	wait(8, 2)
	expect("asked afterwards", 7, 8)
	if err := take(map[int64]int64{1: 1}); err == nil || !strings.Contains(err.Error(), "chunk 1 has 1025 rows") {
		t.Errorf("a row that came twice: %v", err)
	}
	if w.Request(time.Time{}, &role.Request{From: 9, Body: []byte("something for the output")}) {
		t.Error("a request for the output was kept from it")
	}
}
