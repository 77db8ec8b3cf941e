package core

import (
	"errors"
	"fmt"
	"strings"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/topology"
)

// adder is a role whose state tests can see: it keeps words, and notes each call.
//
//	data "word"    kept, recorded (changes state)
//	data "+word"   folded, emitted at the next Flush, not recorded
//	data ">word"   emitted at once
//	data "bad"     an error; "panic" panics
//
// The end of a stream emits the kept words in pages of two, one for each call of More.
type adder struct {
	sessions map[session.ID]*words
}

type words struct {
	kept, folded []string
	of           int // the stream of what is folded
	stream       int
	leaving      []string
}

func newAdder() *adder { return &adder{map[session.ID]*words{}} }

func (a *adder) Name() string { return "adder" }

func (a *adder) Open(s role.Session) error {
	a.sessions[s.ID] = &words{}
	return nil
}

func (a *adder) Take(id session.ID, m role.Message, out role.Emitter) (bool, error) {
	w, text := a.sessions[id], string(m.Payload)
	switch {
	case text == "bad":
		return false, errors.New("this word is bad")
	case text == "panic":
		panic("this word is worse")
	case strings.HasPrefix(text, "+"):
		w.folded, w.of = append(w.folded, text[1:]), m.Stream
		return false, nil
	case strings.HasPrefix(text, ">"):
		out.Emit(int(text[1]), role.Message{Stream: m.Stream, Payload: []byte(text[1:])})
		return false, nil
	}
	w.kept = append(w.kept, text)
	return true, nil
}

func (a *adder) Flush(id session.ID, out role.Emitter) error {
	if w := a.sessions[id]; len(w.folded) > 0 {
		out.Emit(0, role.Message{Stream: w.of, Payload: []byte(strings.Join(w.folded, "+"))})
		w.folded = nil
	}
	return nil
}

func (a *adder) End(id session.ID, stream int, _ role.Emitter) (bool, error) {
	w := a.sessions[id]
	w.stream, w.leaving, w.kept = stream, w.kept, nil
	return len(w.leaving) > 0, nil
}

func (a *adder) More(id session.ID, out role.Emitter) (bool, error) {
	w := a.sessions[id]
	n := min(2, len(w.leaving))
	out.Emit(0, role.Message{Stream: w.stream, Payload: []byte(strings.Join(w.leaving[:n], " "))})
	w.leaving = w.leaving[n:]
	return len(w.leaving) > 0, nil
}

func (a *adder) Drop(id session.ID, _ role.Outcome) { delete(a.sessions, id) }

func (a *adder) Snapshot(id session.ID, b []byte) []byte {
	w := a.sessions[id]
	b = wire.AppendArray(b, 3)
	b = wire.AppendUint(b, uint64(w.stream))
	b = wire.AppendString(b, strings.Join(w.kept, " "))
	return wire.AppendString(b, strings.Join(w.leaving, " "))
}

func (a *adder) Restore(id session.ID, data []byte) error {
	d := wire.NewReader(data)
	d.ArrayOf(3)
	w := a.sessions[id]
	w.stream = int(d.Uint())
	w.kept, w.leaving = strings.Fields(d.String()), strings.Fields(d.String())
	return d.Done()
}

// fakeGateway is a gateway whose requests are words: "SESSION VERB [word]".
type fakeGateway struct {
	adder
	host  role.Host
	log   []string // changes that became durable
	ticks int
	taken []string // sessions that another client has taken over

	awaits []session.ID // the sessions that it asks about
	asked  []session.ID // the sessions that it was asked about
	listed int          // how often the core asked it for all ended sessions
	takes  []string     // what it has taken, of which session
}

func newFakeGateway() *fakeGateway { return &fakeGateway{adder: *newAdder()} }

func (d *fakeGateway) Name() string                  { return "gateway" }
func (d *fakeGateway) Attach(h role.Host)            { d.host = h }
func (d *fakeGateway) Forget(session.ID, role.Asker) {}
func (d *fakeGateway) TakenOver(s role.Session) {
	d.taken = append(d.taken, fmt.Sprint(nameOf(s.ID), " by ", len(s.Openers)))
}
func (d *fakeGateway) Running() int              { return len(d.log) }
func (d *fakeGateway) Apply(p []byte) error      { d.log = append(d.log, string(p)); return nil }
func (d *fakeGateway) RestoreAll(p []byte) error { d.log = strings.Fields(string(p)); return nil }
func (d *fakeGateway) SnapshotAll(b []byte) []byte {
	return append(b, strings.Join(d.log, " ")...)
}

func (d *fakeGateway) Take(id session.ID, m role.Message, out role.Emitter) (bool, error) {
	d.takes = append(d.takes, nameOf(id)+":"+string(m.Payload))
	return d.adder.Take(id, m, out)
}

func (d *fakeGateway) End(session.ID, int, role.Emitter) (bool, error) { return false, nil }
func (d *fakeGateway) Snapshot(_ session.ID, b []byte) []byte          { return b }
func (d *fakeGateway) Restore(session.ID, []byte) error                { return nil }

// known is the analysis of these tests: stream 0 is reference data, stream 1 facts.
var known = analyses.Set{&analyses.Analysis{
	Name: "test",
	Streams: []analyses.Stream{
		{Name: "reference", Reference: true, Files: "r", Columns: []analyses.Column{{Name: "a"}},
			Schema: []batch.FieldSpec{{Name: "a", Kind: batch.Int}}},
		{Name: "facts", Files: "f", Columns: []analyses.Column{{Name: "a"}}, Schema: []batch.FieldSpec{{Name: "a", Kind: batch.Int}}},
	},
	Tables: []fold.Spec{},
}}

// sessionOf names a session by a letter.
func sessionOf(name string) (id session.ID) {
	copy(id[:], name)
	return id
}

func nameOf(id session.ID) string { return strings.TrimRight(string(id[:]), "\x00") }

func logOf(name string) (l link.LogID) {
	copy(l[:], name)
	return l
}

// hear gives a core frames for which their senders have computed the checksum (R18).
func hear(c *Core, frames ...link.Frame) {
	for i := range frames {
		frames[i] = frames[i].Sealed(c.cfg.Self)
	}
	c.Receive(frames)
}

// shapes are the kinds of nodes that scripts can create.
func shape(name string) (Config, error) {
	cfg := Config{Self: "me-1", Known: known, Window: 1000, Commit: 100000, Pace: link.DefaultPace, Replica: analyses.Replica{Of: 1}}
	all, facts, reference := topology.AllStreams, topology.Facts, topology.Reference
	switch name {
	case "relay": // two senders, two receivers, route "any"
		cfg.In = []InEdge{{Name: "in", From: []link.NodeID{"a-1", "a-2"}, Streams: all}}
		cfg.Out = []OutEdge{{Name: "out", To: []link.NodeID{"z-1", "z-2"}, Streams: all, Route: topology.Any}}
		cfg.Roles = []role.Role{newAdder()}
	case "hash": // route "hash"
		cfg.In = []InEdge{{Name: "in", From: []link.NodeID{"a-1"}, Streams: all}}
		cfg.Out = []OutEdge{{Name: "out", To: []link.NodeID{"z-1", "z-2"}, Streams: all, Route: topology.Hash, Key: topology.GroupKey}}
		cfg.Roles = []role.Role{newAdder()}
	case "answers": // a gateway at the end of the chain
		cfg.In = []InEdge{{Name: "in", From: []link.NodeID{"a-1"}, Streams: all}}
		cfg.Out = []OutEdge{{Name: "out", To: []link.NodeID{"z-1"}, Streams: all, Route: topology.Any}}
		cfg.Roles = []role.Role{newAdder(), newFakeGateway()}
	case "output": // a gateway that ends the pipeline
		cfg.In = []InEdge{{Name: "in", From: []link.NodeID{"a-1"}, Streams: all}}
		cfg.Roles = []role.Role{newFakeGateway()}
	case "parser": // the inputs in front of it serve clients
		cfg.In = []InEdge{
			{Name: "facts", From: []link.NodeID{"a-1"}, Streams: facts, Inputs: true},
			{Name: "reference", From: []link.NodeID{"a-1"}, Streams: reference, Inputs: true},
		}
		cfg.Out = []OutEdge{{Name: "out", To: []link.NodeID{"z-1"}, Streams: all, Route: topology.Any}}
		cfg.Roles = []role.Role{newAdder()}
	case "joiner": // reference data and facts arrive on separate edges
		cfg.In = []InEdge{
			{Name: "facts", From: []link.NodeID{"a-1", "a-2"}, Streams: facts},
			{Name: "reference", From: []link.NodeID{"a-1", "a-2"}, Streams: reference, Dialled: true},
		}
		cfg.Out = []OutEdge{{Name: "out", To: []link.NodeID{"z-1"}, Streams: all, Route: topology.Hash, Key: topology.GroupKey}}
		cfg.Roles = []role.Role{newAdder()}
		cfg.Joiner = true
	case "broadcast": // one message reaches all receivers
		cfg.In = []InEdge{{Name: "in", From: []link.NodeID{"a-1"}, Streams: all}}
		cfg.Out = []OutEdge{{Name: "out", To: []link.NodeID{"z-1", "z-2"}, Streams: all, Route: topology.All, Broadcast: true}}
		cfg.Roles = []role.Role{newAdder()}
	case "gateway": // clients in front of it, and a chain behind it
		cfg.Out = []OutEdge{{Name: "out", To: []link.NodeID{"z-1"}, Streams: all, Route: topology.Any}}
		cfg.Roles = []role.Role{newFakeGateway(), newAdder()}
	default:
		return cfg, fmt.Errorf("there is no shape %q", name)
	}
	return cfg, nil
}
