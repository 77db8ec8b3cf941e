// Package joiner is the role that keeps the reference tables of each session, and folds facts into tables, so that far
// fewer bytes travel on (design §2).
//
// Reference batches change state, so they are recorded. After a crash the state is built from them again; their order does not matter.
// Facts are folded and flushed within one commit. The joiner keeps nothing of them, so it records nothing.
package joiner

import (
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/rows/progress"
	"posta.dev/posta/topology"
)

// Joiner implements role.Role.
type Joiner struct {
	role.Base
	sessions map[session.ID]*state
	partials role.PartialEncoder
}

var (
	_ role.Role   = (*Joiner)(nil)
	_ role.Forker = (*Joiner)(nil)
	_ role.Holder = (*Joiner)(nil)
)

type state struct {
	role.Session
	joiner    analyses.Joiner
	tables    []*fold.Table
	apart     []apart       // by table
	folded    []*fold.Table // what parsers have folded, merged; nil until there is something
	reference []reference   // what Snapshot stores
	bytes     int           // size of the payloads of reference, in bytes (R16)
	ended     []int         // streams, in the order they ended
	deferred  bool          // the analysis has not been given reference and ended yet; see catchUp
	dirty     bool          // there is something to flush
	stream    int           // that was folded last; Flush emits under it

	ahead []*ahead                // batches that are computed before they are taken, the oldest first
	forks map[int]analyses.Joiner // by stream, the fork that computes them; missing while one is in use
	pause func()                  // ends a slice
	short []int                   // streams of which no batch takes long
}

type reference struct {
	stream  int
	payload []byte
}

// New returns the role.
func New() *Joiner {
	return &Joiner{Base: role.Base{Role: topology.Joiner}, sessions: map[session.ID]*state{}}
}

// Open implements role.Role.
func (j *Joiner) Open(s role.Session) error {
	aj, err := s.Analysis.NewJoiner(s.Args, s.Replica)
	if err != nil {
		return err
	}
	j.sessions[s.ID] = &state{
		Session: s, joiner: aj, tables: role.NewTables(s.Analysis, fold.NewOutgoing), forks: map[int]analyses.Joiner{},
		deferred: s.Analysis.ReferenceLater && s.Replica.Index != 0, apart: make([]apart, len(s.Analysis.Tables)),
	}
	return nil
}

// Take implements role.Role.
func (j *Joiner) Take(id session.ID, m role.Message, out role.Emitter) (durable bool, err error) {
	st := j.sessions[id]
	ref := st.Analysis.Streams[m.Stream].Reference
	if m.Folded != nil {
		return false, j.takeFork(st, m, out)
	}
	switch {
	case ref:
		if st.bytes += len(m.Payload); out != nil && st.bytes > out.Limits().Memory {
			return false, analyses.LargeReference(fmt.Errorf("the session's reference data has %d bytes up to stream %s, and limits.memory "+
				"is %d: give it less, or raise limits.memory in the topology and start the session again",
				st.bytes, st.Analysis.Streams[m.Stream].Name, out.Limits().Memory))
		}
		st.reference = append(st.reference, reference{m.Stream, m.Payload})
		if st.deferred {
			return true, nil
		}
	case st.deferred:
		if err := st.catchUp(); err != nil {
			return false, err
		}
	}
	return ref, st.take(m.Stream, m.Payload)
}

// catchUp gives the analysis what was deferred until facts came, in the order that Restore uses: the reference batches, and then the ends.
// An edge of route "any" may stay with one joiner, so that the others never get facts. Those then only keep their reference data, and never
// compute with it.
func (st *state) catchUp() error {
	st.deferred = false
	for _, r := range st.reference {
		if err := st.take(r.stream, r.payload); err != nil {
			return err
		}
	}
	for _, s := range st.ended {
		if err := st.joiner.End(s); err != nil {
			return fmt.Errorf("the end of stream %s: %w", st.Analysis.Streams[s].Name, err)
		}
	}
	return nil
}

// take gives a batch to the analysis.
func (st *state) take(stream int, payload []byte) (err error) {
	progress.Mark()
	rows, err := role.DecodeRows(payload)
	if err != nil {
		return err
	}
	about := &st.Analysis.Streams[stream]
	defer role.Explain(&err, func() string { return fmt.Sprintf("stream %s, %s from line %d", about.Name, rows.File.Name, rows.Line) })
	st.stream = stream
	if err := st.reject(rows.Rejected, about.Reference); err != nil {
		return err
	}
	if err := st.merge(rows.Folded); err != nil || len(rows.Batch) == 0 {
		return err
	}
	if taken, err := st.takeAhead(stream, payload); taken || err != nil {
		return err
	}
	b, err := batch.Decode(rows.Batch, about.Schema)
	if err != nil {
		return err
	}
	st.dirty = true
	pos := analyses.Position{File: rows.File, Line: rows.Line}
	if about.Reference {
		return st.joiner.Reference(stream, b, pos)
	}
	return st.joiner.Facts(stream, b, pos)
}

// Fork implements role.Forker. Recovery repeats the reference streams and their ends before there is a chunk, so forks begin with the state
// that the joiner had before the crash.
func (j *Joiner) Fork(id session.ID, stream int) analyses.Joiner {
	st := j.sessions[id]
	if st == nil || st.deferred || !st.referenceEnded() {
		return nil
	}
	forker, ok := st.joiner.(analyses.Forker)
	if !ok {
		return nil
	}
	fork, err := forker.Fork(stream)
	if err != nil {
		return nil // the joiner meets the error again, and reports it
	}
	return fork
}

// referenceEnded reports whether the analysis has had all reference streams.
func (st *state) referenceEnded() bool {
	for i := range st.Analysis.Streams {
		if st.Analysis.Streams[i].Reference && !slices.Contains(st.ended, i) {
			return false
		}
	}
	return true
}

// takeFork takes the rows of one chunk, which a parser of the same node has folded in a fork. The fork is emptied for every chunk. If it
// kept rows until the commit is closed, they would be mixed with those of a chunk that was prepared and is not taken.
//
// Chunks with many groups that hardly repeat from one to the next are not merged: the groups of the one before leave first, so that those
// of the next one only change their place.
func (j *Joiner) takeFork(st *state, m role.Message, out role.Emitter) error {
	progress.Mark()
	st.stream = m.Stream
	if err := st.reject(m.Folded.Rejected, false); err != nil {
		return err
	}
	st.dirty = true
	tables := st.tables[:len(st.tables)-1]
	for i, t := range tables {
		if t.Len() >= manyGroups && st.apart[i].leaves() {
			if err := j.emit(st, i, t, out); err != nil {
				return err
			}
		}
		st.apart[i].before(t)
	}
	err := m.Folded.Fork.Flush(tables)
	for i, t := range tables {
		st.apart[i].after(t)
	}
	return err
}

// manyGroups is from how many groups of a table on it is asked whether they repeat. To merge fewer costs nothing that matters.
const manyGroups = 4096

// apart says whether a table's groups hardly repeat from chunk to chunk, as far as the last chunks have shown.
type apart struct {
	next       int // how many more chunks are not merged
	last       int // what next was set to last
	rows, more int // of the table: how many it had before a chunk came, and how many had come
}

// mostApart is after how many chunks that were not merged one is merged again, to see whether groups repeat now.
const mostApart = 32

func (a *apart) leaves() bool {
	if a.next == 0 {
		return false
	}
	a.next--
	return true
}

func (a *apart) before(t *fold.Table) { a.rows, a.more = t.Len(), t.Merged() }

// after looks at a chunk that was merged. What it saves must be worth a look-up of each group, which takes about an eighth of the time that
// a group takes behind the joiner.
func (a *apart) after(t *fold.Table) {
	came, added := t.Merged()-a.more, t.Len()-a.rows
	if a.rows < manyGroups || came == 0 {
		return
	}
	if came-added > came/8 {
		a.last = 0
		return
	}
	a.last = min(max(1, 2*a.last), mostApart)
	a.next = a.last
}

// merge takes the partials that a parser has folded. They have tables of their own, because the others are handed to the analysis at each
// Flush.
func (st *state) merge(partials [][]byte) error {
	if len(partials) > 0 && st.folded == nil {
		st.folded = role.NewTables(st.Analysis, fold.NewOutgoing)
	}
	for _, p := range partials {
		st.dirty = true
		if err := role.Merge(st.folded, p); err != nil {
			return err
		}
	}
	return nil
}

// reject notes rejected rows. Every joiner gets the whole reference streams, so only the first joiner reports rows rejected there.
func (st *state) reject(partial []byte, reference bool) error {
	if len(partial) == 0 || reference && st.Replica.Index != 0 {
		return nil
	}
	st.dirty = true
	return st.tables[len(st.tables)-1].Merge(partial)
}

// Flush implements role.Role: one partial for each table and partition that has rows.
func (j *Joiner) Flush(id session.ID, out role.Emitter) error {
	st := j.sessions[id]
	if st == nil || !st.dirty {
		return nil
	}
	st.dirty = false
	if err := st.joiner.Flush(st.tables[:len(st.tables)-1]); err != nil {
		return err
	}
	for i, t := range slices.Concat(st.tables, st.folded) {
		if err := j.emit(st, i%len(st.tables), t, out); err != nil {
			return err
		}
	}
	return nil
}

// emit emits all rows of table i, and empties it.
func (j *Joiner) emit(st *state, i int, t *fold.Table, out role.Emitter) error {
	if err := t.Err(); err != nil {
		return fmt.Errorf("table %s: %w", t.Spec().Name, err)
	}
	if t.Len() == 0 {
		return nil
	}
	for p, rows := range t.Partition(out.Partitions()) {
		if err := j.partials.Emit(out, p, st.stream, i, t, rows); err != nil {
			return err
		}
	}
	t.Reset()
	return nil
}

// End implements role.Role. What the analysis folds now is flushed before the end is passed on.
func (j *Joiner) End(id session.ID, stream int, _ role.Emitter) (bool, error) {
	st := j.sessions[id]
	st.ended = append(st.ended, stream)
	if st.deferred {
		return false, nil
	}
	st.stream, st.dirty = stream, true
	return false, st.joiner.End(stream)
}

// Held implements role.Holder: the reference data.
func (j *Joiner) Held(id session.ID) int {
	if st := j.sessions[id]; st != nil {
		return st.bytes
	}
	return 0
}

// Drop implements role.Role.
func (j *Joiner) Drop(id session.ID, _ role.Outcome) {
	if st := j.sessions[id]; st != nil {
		st.stop()
		delete(j.sessions, id)
	}
}

// Snapshot implements role.Role: the reference batches as they came, and which streams have ended.
func (j *Joiner) Snapshot(id session.ID, dst []byte) []byte {
	st := j.sessions[id]
	dst = wire.AppendArray(dst, 2)
	dst = wire.AppendArray(dst, len(st.ended))
	for _, s := range st.ended {
		dst = wire.AppendUint(dst, uint64(s))
	}
	dst = wire.AppendArray(dst, len(st.reference))
	for _, r := range st.reference {
		dst = wire.AppendArray(dst, 2)
		dst = wire.AppendUint(dst, uint64(r.stream))
		dst = wire.AppendBin(dst, r.payload)
	}
	return dst
}

// Restore implements role.Role.
func (j *Joiner) Restore(id session.ID, data []byte) error {
	st := j.sessions[id]
	if st == nil {
		return errors.New("the session is not open")
	}
	d := wire.NewReader(data)
	d.ArrayOf(2)
	ended := make([]int, d.Array())
	for i := range ended {
		ended[i] = int(d.Uint())
	}
	for n := d.Array(); n > 0; n-- {
		d.ArrayOf(2)
		m := role.Message{Stream: int(d.Uint()), Payload: d.Bytes()}
		if d.Err() != nil {
			return d.Err()
		}
		if m.Stream >= len(st.Analysis.Streams) {
			return fmt.Errorf("stream %d of %d", m.Stream, len(st.Analysis.Streams))
		}
		if _, err := j.Take(id, m, nil); err != nil {
			return err
		}
	}
	if err := d.Done(); err != nil {
		return err
	}
	for _, s := range ended {
		if _, err := j.End(id, s, nil); err != nil {
			return err
		}
	}
	return st.discardFolded()
}

// discardFolded discards what the repeated batches folded, because that was flushed when they came the first time.
func (st *state) discardFolded() error {
	if st.deferred {
		return nil
	}
	st.dirty = false
	if err := st.joiner.Flush(st.tables[:len(st.tables)-1]); err != nil {
		return err
	}
	for _, t := range st.tables {
		t.Reset()
	}
	return nil
}
