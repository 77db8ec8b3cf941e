package input

import (
	"bytes"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
)

// theirs is the token of another client, which uses the same id.
var theirs = session.Token{2}

func TestR17_AnotherTokenHearsThatTheSessionIsInUse(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	code(t, h, chunk("colours", 0, 1))
	before := in.SnapshotAll(nil)
	foreign := chunk("colours", 0, 2)
	foreign.Token = theirs
	foreignEnd := end("colours", protocol.LaneSeq{Lane: 0, Seq: 7})
	foreignEnd.Token = theirs
	for _, q := range []protocol.Request{
		{Type: protocol.Open, Session: id, Token: theirs, Analysis: "paint"},
		{Type: protocol.Open, Session: id, Token: theirs, Analysis: "paint", Params: map[string]string{"fail": "yes"}},
		foreign, foreignEnd,
		{Type: protocol.Ping, Session: id, Token: theirs},
		{Type: protocol.Cancel, Session: id, Token: theirs},
		{Type: protocol.Close, Session: id, Token: theirs},
	} {
		if c := code(t, h, q); c != protocol.ErrInUse {
			t.Errorf("to %s of another token it answers %q", q.Type, c)
		}
	}
	if !bytes.Equal(in.SnapshotAll(nil), before) || len(h.Aborted) != 0 || len(h.Fed) != 1 || len(h.Ended) != 0 {
		t.Errorf("a client without the token changes something: aborted %v, fed %d, ended %v", h.Aborted, len(h.Fed), h.Ended)
	}
	if _, _, ok := in.DecodeChunk(&role.Request{Client: role.LocalOperator, Body: foreign.Append(nil)}); ok {
		t.Error("a chunk of another token is prepared")
	}
	if c := code(t, h, chunk("colours", 0, 2)); c != "" {
		t.Errorf("the opener is disturbed: %q", c)
	}
}

// TestR17_TheOpenerIsRemembered: this holds after the end of the session, and after a restart.
func TestR17_TheOpenerIsRemembered(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	failed := roletest.ID("failed")
	open(t, h, failed)
	ended(t, h)
	in.Heartbeat(noon, role.Heard{From: "output-1", ID: link.Identity{},
		Ended: []role.Ended{{ID: id, Opener: ours.Hash()}, {ID: failed, Opener: ours.Hash(), Failed: true, Reason: "poison"}}})
	in.over(failed, in.mustOutcome(t, failed), "") // the core reports the end in recovery, too
	restored := New(roletest.About())
	hosts := map[*Input]*roletest.Host{in: h, restored: roletest.NewHost(restored)}
	if err := restored.RestoreAll(in.SnapshotAll(nil)); err != nil {
		t.Fatal(err)
	}
	replayed := New(roletest.About())
	hosts[replayed] = roletest.NewHost(replayed)
	for _, p := range h.Recorded {
		if err := replayed.Apply(bytes.Clone(p)); err != nil {
			t.Fatal(err)
		}
	}
	replayed.Drop(failed, role.Outcome{Failed: true, Reason: "poison"})
	for _, h := range hosts {
		again := protocol.Request{Type: protocol.Open, Session: id, Token: theirs, Analysis: "paint"}
		if c := code(t, h, again); c != protocol.ErrFinished {
			t.Errorf("another token opens what is finished: %q", c)
		}
		if c := code(t, h, protocol.Request{Type: protocol.Close, Session: id, Token: theirs}); c != "" {
			t.Errorf("a close that has nothing to do: %q", c)
		}
		if r := open(t, h, id); r.Type != protocol.Opened || r.State != session.Done {
			t.Errorf("the opener hears %+v", r)
		}
		again.Session = failed
		if c := code(t, h, again); c != protocol.ErrFailed {
			t.Errorf("another token opens what has failed: %q", c)
		}
		if c := code(t, h, protocol.Request{Type: protocol.Close, Session: id, Force: true}); c != "" {
			t.Error(c)
		}
		again.Session = id
		if c := code(t, h, again); c != protocol.ErrClosed {
			t.Errorf("another token opens what was closed: %q", c)
		}
	}
}

func (in *Input) mustOutcome(t *testing.T, id session.ID) (o gateway.Outcome) {
	t.Helper()
	gone, ok := in.Tombstones.Get(id)
	if !ok {
		t.Fatal("a session that failed is not remembered")
	}
	return gone.Outcome
}

// TestR17_APingWithoutATokenOnlyLooks: such a ping does not keep the session alive.
func TestR17_APingWithoutATokenOnlyLooks(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	look := protocol.Request{Type: protocol.Ping, Session: id}
	for at := noon; at.Before(noon.Add(29 * time.Second)); at = at.Add(time.Second) {
		in.Tick(at)
		if r, _ := h.Ask(t, at, 1, look); r.State != session.Running {
			t.Fatalf("%+v", r)
		}
	}
	in.Tick(noon.Add(29 * time.Second))
	in.Tick(noon.Add(30 * time.Second))
	if len(h.Aborted) != 1 {
		t.Fatal("a stranger's look keeps a session alive")
	}
}

func TestR17_ANumberIsNotUsedAgain(t *testing.T) {
	for name, change := range map[string]func(*protocol.Request){
		"data":   func(q *protocol.Request) { q.Data = []byte("blue\n") },
		"line":   func(q *protocol.Request) { q.Line = 3 },
		"file":   func(q *protocol.Request) { q.File = "market/colours.csv" },
		"header": func(q *protocol.Request) { q.Header = []byte("color") },
	} {
		in, h := newInput()
		open(t, h, id)
		code(t, h, chunk("colours", 0, 1))
		restored := New(roletest.About())
		h2 := roletest.NewHost(restored)
		if err := restored.RestoreAll(in.SnapshotAll(nil)); err != nil {
			t.Fatal(err)
		}
		other := chunk("colours", 0, 1)
		change(&other)
		for _, h := range []*roletest.Host{h, h2} {
			if c := code(t, h, other); c != protocol.ErrFailed || len(h.Aborted) != 1 {
				t.Errorf("another %s under the same number: %q", name, c)
			}
		}
	}
}

// TestR17_AnAnswerOfAnotherSessionIsNoEnd: an output keeps an answer longer than inputs remember its id.
func TestR17_AnAnswerOfAnotherSessionIsNoEnd(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	ended(t, h)
	in.Heartbeat(noon, role.Heard{From: "output-1", ID: link.Identity{}, Ended: []role.Ended{{ID: id, Opener: theirs.Hash()}}})
	if len(h.Aborted) != 1 || in.Running() != 0 {
		t.Fatalf("the answer of another session is taken for this one's: %v", h.Aborted)
	}
}

// TestR17_APreparedChunkIsTheSame: a repeated chunk is recognised, whether its checksum was computed in advance or when it was taken.
func TestR17_APreparedChunkIsTheSame(t *testing.T) {
	in, h := newInput()
	open(t, h, id)
	q := chunk("colours", 0, 1)
	r := &role.Request{From: 1, Client: role.LocalOperator, Body: q.Append(nil)}
	if _, _, ok := in.DecodeChunk(r); !ok {
		t.Fatal("the chunk is not prepared")
	}
	r.Chunk.Sum()
	clear(r.Chunk.Data) // the checksum is not computed a second time
	in.Request(noon, r)
	if c := code(t, h, q); c != "" || len(h.Aborted) != 0 {
		t.Errorf("the chunk that was taken is not known again: %q, %v", c, h.Aborted)
	}
}
