// Package roletest holds what the tests of the roles share: a small analysis, an emitter that keeps what it is given, and a
// host that does what the core does, without any node.
package roletest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Analysis counts: reference rows name colours, facts are (colour, amount). The amount -1 makes the joiner panic, and -2 the parser. The
// parameter "fail" makes the reducer fail.
func Analysis() *analyses.Analysis {
	key := []fold.Key{{Name: "colour", Kind: fold.KeyText}}
	return &analyses.Analysis{
		Name:   "paint",
		Params: []analyses.Param{{Name: "fail", Default: "no"}},
		Streams: []analyses.Stream{
			{
				Name: "colours", Reference: true, Files: "*/colours.csv", Columns: []analyses.Column{{Name: "colour"}},
				Schema: []batch.FieldSpec{{Name: "colour", Kind: batch.Text}},
			},
			{
				Name: "pots", Files: "*/pots.csv", Columns: []analyses.Column{{Name: "colour"}, {Name: "amount"}},
				Schema: []batch.FieldSpec{{Name: "colour", Kind: batch.Text}, {Name: "amount", Kind: batch.Int}},
			},
		},
		Tables: []fold.Spec{
			{Name: "known", Stream: "colours", Keys: key, Aggs: []fold.Agg{{Name: "rows", Kind: fold.Sum}}},
			{Name: "amounts", Stream: "pots", Keys: key, Aggs: []fold.Agg{{Name: "amount", Kind: fold.Sum}}},
		},
		Queries: []analyses.Query{
			{Name: "known", Columns: []string{"colour", "rows"}, Tables: []string{"known"}},
			{Name: "amounts", Columns: []string{"colour", "amount"}, Tables: []string{"amounts"}},
		},
		NewParser: newParser,
		Faster:    analyses.Faster{ReferenceLater: true},
		NewJoiner: func(_ analyses.Args, r analyses.Replica) (analyses.Joiner, error) {
			return &joiner{first: r.Index == 0, known: map[string]bool{}, rows: map[string]int64{}, amounts: map[string]int64{}}, nil
		},
		Reduce: reduce,
	}
}

func newParser(_ analyses.Args, stream int, _ analyses.File, b *batch.Builder) (func([][]byte) error, error) {
	return func(f [][]byte) error {
		if len(f[0]) == 0 {
			return errors.New("colour is empty")
		}
		if stream == 1 {
			n, err := strconv.ParseInt(string(f[1]), 10, 64)
			if err != nil {
				return fmt.Errorf("amount %q is not a number", f[1])
			}
			if n == -2 {
				panic("an amount of minus two")
			}
			b.Int(1).Append(n)
		}
		b.Text(0).Append(f[0])
		return nil
	}, nil
}

type joiner struct {
	first   bool
	known   map[string]bool
	rows    map[string]int64
	amounts map[string]int64
}

func (j *joiner) Reference(_ int, b *batch.Batch, _ analyses.Position) error {
	for i := range b.Rows() {
		colour := string(b.Texts(0).At(i))
		j.known[colour] = true
		if j.first {
			j.rows[colour]++
		}
	}
	return nil
}

func (j *joiner) Facts(_ int, b *batch.Batch, _ analyses.Position) error {
	for i := range b.Rows() {
		n := b.Ints(1).At(i)
		if n == -1 {
			panic("an amount of minus one")
		}
		if colour := string(b.Texts(0).At(i)); j.known[colour] {
			j.amounts[colour] += n
		}
	}
	return nil
}

// Fork implements analyses.Forker.
func (j *joiner) Fork(int) (analyses.Joiner, error) {
	return &joiner{known: j.known, rows: map[string]int64{}, amounts: map[string]int64{}}, nil
}

func (j *joiner) End(int) error { return nil }

func (j *joiner) Flush(tables []*fold.Table) error {
	for i, m := range []map[string]int64{j.rows, j.amounts} {
		t := fold.NewOutgoing(tables[i].Spec())
		for colour, n := range m {
			t.AddSum(t.Row(t.Key().String(colour)), 0, n)
		}
		t.MoveTo(tables[i])
		clear(m)
	}
	return nil
}

func reduce(args analyses.Args, _ int, tables []*fold.Table, emit func(row ...any)) error {
	if args[0] == "yes" {
		return errors.New("told to fail")
	}
	for _, row := range tables[0].Sorted(nil) {
		emit(string(tables[0].KeyText(row, 0)), tables[0].Sum(row, 0))
	}
	return nil
}

// Known holds the analysis.
func Known() analyses.Set { return analyses.Set{Analysis()} }

// ID names a session.
func ID(name string) (id session.ID) {
	copy(id[:], name)
	return id
}

// Session is a session of the analysis.
func Session(t *testing.T, name string, r analyses.Replica, params map[string]string) role.Session {
	t.Helper()
	a := role.Announcement{Analysis: "paint", Params: params}
	s, err := role.ReadAnnouncement(ID(name), a.Encode(), Known(), r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Kept is an emitter that keeps everything.
type Kept struct {
	N      int // of partitions, 0 is 1
	Frame  int // limits.frame, 0 is none
	Memory int // limits.memory, 0 is none
	All    []Emitted
}

// Emitted is one message.
type Emitted struct {
	Partition int
	role.Message
}

// Partitions implements role.Emitter.
func (k *Kept) Partitions() int { return max(1, k.N) }

// Limits implements role.Emitter.
func (k *Kept) Limits() role.Limits {
	l := role.NoLimits
	if k.Frame > 0 {
		l.Frame = k.Frame
	}
	if k.Memory > 0 {
		l.Memory = k.Memory
	}
	return l
}

// Emit implements role.Emitter.
func (k *Kept) Emit(partition int, m role.Message) { k.All = append(k.All, Emitted{partition, m}) }

// Chunk returns a message with rows of a file of a stream.
func Chunk(stream int, line uint64, rows string) role.Message {
	names, headers := []string{"shop/colours.csv", "shop/pots.csv"}, []string{"colour", "colour,amount"}
	return role.Message{Stream: stream, Chunk: &role.Chunk{File: names[stream], Header: []byte(headers[stream]), Line: line,
		Data: []byte(rows)}}
}

// About returns what a gateway is told about its node and cluster.
func About() gateway.About {
	return gateway.About{
		Cluster: "test", Node: "me-1", InputNodes: []link.NodeID{"me-1", "input-1", "input-2"},
		Inputs: []string{"tcp://in", "tcp://in-1", "tcp://in-2"}, Outputs: []string{"tcp://out"}, Known: Known(),
		Limits: topology.Limits{Sessions: 2, Chunk: 1000, RetryAfter: time.Second, ClientTimeout: 30 * time.Second, ResultsTTL: time.Hour},
	}
}

// Host stands in for the core: it notes what a gateway asks for.
type Host struct {
	Gateway   role.Gateway
	Full      bool // there is no room
	Unheard   bool // no receiver has answered since the start
	Open      map[session.ID]bool
	Fed       []role.Message
	Ended     []int
	Aborted   map[session.ID]role.Outcome
	TakenOver []role.Session
	Recorded  [][]byte
	Replies   map[role.Peer]protocol.Reply
	Waiting   map[role.Peer]protocol.Reply // for the disk
	Broken    bool                         // feeding fails
	Refuses   error                        // why no session is opened; nil opens all
	Files     Saved                        // that were saved
}

// NewHost returns the host of a gateway.
func NewHost(g role.Gateway) *Host {
	h := &Host{Gateway: g, Files: Saved{}, Open: map[session.ID]bool{}, Aborted: map[session.ID]role.Outcome{},
		Replies: map[role.Peer]protocol.Reply{}, Waiting: map[role.Peer]protocol.Reply{}}
	g.Attach(&attached{h})
	return h
}

// Ask makes a request of the local operator and returns the answer, false if there is none yet. A reply that waited for the disk counts as
// stored.
func (h *Host) Ask(t *testing.T, now time.Time, from role.Peer, q protocol.Request) (protocol.Reply, bool) {
	t.Helper()
	return h.AskAs(t, role.LocalOperator, now, from, q)
}

// AskAs is Ask by another client.
func (h *Host) AskAs(t *testing.T, c security.Identity, now time.Time, from role.Peer, q protocol.Request) (protocol.Reply, bool) {
	t.Helper()
	if !h.Gateway.Request(now, &role.Request{From: from, Client: c, Body: q.Append(nil)}) {
		t.Fatalf("the gateway knows nothing of %s", q.Type)
	}
	return h.Answer(from)
}

// Told is what AskAs returns if the answer is there at once, as it must be.
func (h *Host) Told(t *testing.T, c security.Identity, now time.Time, q protocol.Request) protocol.Reply {
	t.Helper()
	r, ok := h.AskAs(t, c, now, 3, q)
	if !ok {
		t.Fatalf("no answer to %s of %s", q.Type, c.Name)
	}
	return r
}

// Clients of tests: two that own sessions, one that may do everything, and one that may only look.
var (
	Alice = security.Identity{Role: security.Submit, Name: "alice"}
	Bob   = security.Identity{Role: security.Submit, Name: "bob"}
	Olga  = security.Identity{Role: security.Operate, Name: "olga"}
	Wanda = security.Identity{Role: security.Watch, Name: "wanda"}
)

// Answer returns the answer to a peer, if there is one now.
func (h *Host) Answer(to role.Peer) (protocol.Reply, bool) {
	if r, ok := h.Waiting[to]; ok {
		h.Replies[to] = r
		delete(h.Waiting, to)
	}
	r, ok := h.Replies[to]
	delete(h.Replies, to)
	return r, ok
}

type attached struct{ h *Host }

func (a *attached) Open(s role.Session, _ []byte) error {
	if a.h.Refuses != nil {
		return a.h.Refuses
	}
	a.h.Open[s.ID] = true
	return nil
}

func (a *attached) Feed(id session.ID, m role.Message) error {
	if a.h.Broken {
		a.Abort(id, role.Outcome{Reason: "it is broken"})
		return errors.New("it is broken")
	}
	if m.Chunk != nil { // the chunk is a view into a body that is released when the request has been answered
		c := *m.Chunk
		c.File, c.Header, c.Data = strings.Clone(c.File), bytes.Clone(c.Header), bytes.Clone(c.Data)
		m.Chunk = &c
	}
	a.h.Fed = append(a.h.Fed, m)
	return nil
}

func (a *attached) EndStream(_ session.ID, stream int) { a.h.Ended = append(a.h.Ended, stream) }

func (a *attached) TakeOver(s role.Session, _ []byte) { a.h.TakenOver = append(a.h.TakenOver, s) }

func (a *attached) Abort(id session.ID, why role.Outcome) {
	why.Failed = true
	a.h.Aborted[id] = why
	a.h.Gateway.Drop(id, why)
}

func (a *attached) Room(session.ID, bool) bool { return !a.h.Full }
func (a *attached) Confirmed() bool            { return !a.h.Unheard }
func (a *attached) Forget(id session.ID, by role.Asker) {
	a.h.Gateway.Forget(id, by)
}
func (a *attached) Record(payload []byte) { a.h.Recorded = append(a.h.Recorded, payload) }

func (a *attached) Reply(to role.Peer, body []byte)       { a.h.Replies[to] = decoded(body) }
func (a *attached) ReplyStored(to role.Peer, body []byte) { a.h.Waiting[to] = decoded(body) }

func (a *attached) ReadFileAt(name string, p []byte, off int64) error {
	return a.h.Files.ReadFileAt(name, p, off)
}

// Save saves the gateway's files and removes those that it no longer needs, as the shell does after a commit.
func (h *Host) Save() {
	if f, ok := h.Gateway.(role.Filer); ok {
		h.Files.Save(f)
	}
}

// Saved is the content of files that were saved, by name. It implements role.SavedReader.
type Saved map[string][]byte

// ReadFileAt implements role.SavedReader.
func (s Saved) ReadFileAt(name string, p []byte, off int64) error {
	if b := s[name]; off+int64(len(p)) <= int64(len(b)) {
		copy(p, b[off:])
		return nil
	}
	return fmt.Errorf("file %s: %w", name, io.ErrUnexpectedEOF)
}

// Save saves files and removes those that are not needed any more, as the shell does after a commit.
func (s Saved) Save(f role.Filer) {
	for _, name := range f.Dropped() {
		delete(s, name)
	}
	files := f.Unsaved()
	for _, x := range files {
		s[x.Name] = bytes.Join(x.Parts, nil)
	}
	f.Saved(files)
}

// Release writes over the body at once, as the next request will.
func (a *attached) Release(body []byte) {
	for i := range body {
		body[i] = 0xc1 // a byte that no MessagePack begins with
	}
}

func decoded(body []byte) protocol.Reply {
	r, err := protocol.DecodeReply(append([]byte(nil), body...))
	if err != nil {
		panic("a gateway answers what no client can read: " + err.Error())
	}
	return r
}
