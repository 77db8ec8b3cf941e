// Package aggregator is the role that holds one partition of each session's tables, by key. It hands a table on when
// the stream that fills the table has ended.
//
// The tables' specs say how cells are merged, so this role knows nothing of any analysis. Its input is recorded, because it is already
// folded and small. A table leaves page by page, as the windows of the receivers have room (R9). Rows of bags (fold.Never) are passed on as
// they arrive. Tables that take more memory than limits.tables move to files (package runs), and memory begins again with empty tables.
// When the stream has ended, the rows that are still in memory move to files, too. Then the tables are read back in parts. A part is the
// rows of a few buckets, merged from all runs. Pruning and pages treat it like a whole table. It is a partition of the keys, like an
// aggregator's tables, only smaller, so the answer is the same (D1).
//
// Tables from which others are made (fold.Spec.From) stay here, in memory or in files. When they are complete, the analysis makes the
// others (making.go), from one part of the keys after the other.
package aggregator

import (
	"bytes"
	"fmt"
	"slices"

	"posta.dev/posta/nodes/internal/runs"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/topology"
)

// Aggregator implements role.Role.
type Aggregator struct {
	role.Base
	*runs.Store

	// PageRows is how many rows More emits at most, 16,384 unless it is set before the first call. It must never
	// change for a data directory, because recovery repeats calls of More.
	PageRows int

	sessions map[session.ID]*state
	partials role.PartialEncoder
}

var (
	_ role.Role    = (*Aggregator)(nil)
	_ role.Worker  = (*Aggregator)(nil)
	_ role.Spiller = (*Aggregator)(nil)
)

type state struct {
	role.Session
	tables  []*fold.Table   // tables that are filled; rows that have moved to files are no longer in them
	repeats []repeats       // by table
	waiting []*fold.Waiting // by table: the rows of a bag that stays here; nil: the table is not such a bag
	ended   []bool          // streams
	stream  int             // the stream that ended last

	// What leaves: the tables that the stream completes, or a part of them.
	leaving []int      // indexes of tables that are being emitted, in order
	next    int        // first row of leaving[0] that has not left
	prunes  bool       // the analysis still has to prune the tables of stream; they leave after that
	pruning *role.Task // the task that prunes; nil until it begins
	parts   *parts     // the parts of the tables that leave; nil: whole tables leave, from memory
	failed  error      // why the session must fail: an error of pruning, of making a table, or of reading files

	// What is made once nothing else leaves.
	making []int  // indexes of tables that are to be made, in order; the rows of the first one leave while it is made, and next counts them
	left   int    // how many times the first table of making has left completely
	maker  *maker // the task that makes it; nil until it begins
}

// New returns the role.
func New() *Aggregator {
	return &Aggregator{
		Base: role.Base{Role: topology.Aggregator}, Store: runs.NewStore(string(topology.Aggregator)), PageRows: pageRows,
		sessions: map[session.ID]*state{},
	}
}

// Open implements role.Role.
func (a *Aggregator) Open(s role.Session) error {
	st := &state{Session: s, tables: role.NewTables(s.Analysis, fold.NewTable), ended: make([]bool, len(s.Analysis.Streams))}
	st.repeats = make([]repeats, len(st.tables))
	st.waiting = make([]*fold.Waiting, len(st.tables))
	for i := range s.Analysis.Tables {
		if spec := &s.Analysis.Tables[i]; spec.Merge == fold.Never && s.Analysis.Stays(i) {
			st.waiting[i] = fold.NewWaiting(spec)
		}
	}
	a.sessions[s.ID] = st
	return nil
}

// Take implements role.Role. Rows that are passed on change no state here, so only the frame that carries them records them.
func (a *Aggregator) Take(id session.ID, m role.Message, out role.Emitter) (durable bool, err error) {
	st := a.sessions[id]
	tables := st.tables
	i, err := role.TableOf(tables, m.Payload)
	switch {
	case err != nil:
		return false, err
	case tables[i].Spec().Merge == fold.Never && st.waiting[i] == nil:
		out.Emit(0, role.Message{Stream: m.Stream, Payload: bytes.Clone(m.Payload)})
		return false, nil
	case st.isLeaving(i):
		return false, fmt.Errorf("rows of table %s come behind the end of stream %s, which completes it", tables[i].Spec().Name,
			st.Analysis.Streams[st.stream].Name)
	case st.Analysis.Stays(i):
		return true, st.wait(i, m.Payload)
	}
	err = role.Merge(tables, m.Payload)
	return err == nil, err
}

// isLeaving reports whether a table is being pruned or emitted, or another one may be made of it.
func (st *state) isLeaving(table int) bool {
	if st.Analysis.Stays(table) {
		return st.ended[role.TableStream(st.Analysis, table)]
	}
	return slices.Contains(st.leaving, table) || (st.prunes || st.parts != nil) && st.completes(table)
}

// completes reports whether the stream that ended last completes a table that leaves.
func (st *state) completes(table int) bool {
	return role.TableStream(st.Analysis, table) == st.stream && !st.Analysis.Stays(table)
}

// End implements role.Role. The tables that the stream completes begin to leave, then those that can be made now.
func (a *Aggregator) End(id session.ID, stream int, _ role.Emitter) (bool, error) {
	st := a.sessions[id]
	st.ends(stream)
	if a.inRuns(st) {
		if _, err := a.spill(st, st.completes); err != nil {
			return false, err
		}
		st.parts = &parts{prunes: st.Analysis.Prune != nil}
		return true, nil
	}
	st.begin(st.Analysis.Prune != nil)
	return st.more(), nil
}

// more reports whether there is something to emit.
func (st *state) more() bool {
	return st.prunes || len(st.leaving) > 0 || st.parts != nil || len(st.making) > 0
}

// begin makes the tables leave. If they have to be pruned, they leave after that.
func (st *state) begin(prunes bool) {
	st.leave()
	if st.prunes = prunes && len(st.leaving) > 0; st.prunes {
		st.leaving = nil // leave sets it after pruning
	}
}

// leave lists the tables that the stream completes. If a part is read again after a start, it leaves out the tables of the part that have
// left.
func (st *state) leave() {
	for i, t := range st.complete() {
		if t != nil && t.Len() > 0 {
			st.leaving = append(st.leaving, i)
		}
	}
	if st.parts != nil {
		st.leaving = st.leaving[min(st.parts.left, len(st.leaving)):]
	}
}

// complete returns the tables that leave, with nil in place of the others.
func (st *state) complete() []*fold.Table {
	all := st.tables
	if st.parts != nil {
		all = st.parts.tables
	}
	tables := make([]*fold.Table, len(all))
	for i, t := range all {
		if st.completes(i) {
			tables[i] = t
		}
	}
	return tables
}

// Work implements role.Worker. It does a slice of the work that the next page needs: it reads a part, or prunes, or makes a table.
func (a *Aggregator) Work(id session.ID) (more bool, err error) {
	st := a.sessions[id]
	more, err = a.work(st)
	switch {
	case err != nil || !st.makes():
		return more, err
	case more:
		return true, nil
	}
	return a.makeSlice(st)
}

// work does a slice of reading a part, or of pruning.
func (a *Aggregator) work(st *state) (more bool, err error) {
	switch {
	case st.failed != nil:
	case st.parts != nil && !st.parts.whole:
		more, st.failed = a.read(st)
	case st.prunes:
		more, st.failed = st.pruneOn()
	}
	return more && st.failed == nil, st.failed
}

// pruneOn does a slice of pruning.
func (st *state) pruneOn() (more bool, err error) {
	if st.pruning == nil {
		st.pruning = st.prune()
	}
	_, done, err := st.pruning.Slice()
	switch {
	case err != nil:
		st.pruning = nil
	case done:
		st.prunes, st.pruning = false, nil
		st.leave()
	}
	return st.prunes, err
}

// prune lets the analysis drop rows that no answer needs. The analysis sees only the tables that the stream completes, since other tables
// may change between two slices. So a replay drops the same rows.
func (st *state) prune() *role.Task {
	stream, args, prune := st.stream, st.Args, st.Analysis.Prune
	where := "prune at the end of stream " + st.Analysis.Streams[stream].Name
	complete := st.complete()[:len(st.Analysis.Tables)]
	tables := slices.Clone(complete)
	for i := range tables {
		if tables[i] == nil {
			tables[i] = fold.NewTable(&st.Analysis.Tables[i])
		}
	}
	return role.NewTask(tables, func(func([]byte)) (err error) {
		defer role.Explain(&err, func() string { return where })
		for _, t := range tables {
			if err := t.Err(); err != nil {
				return err
			}
		}
		if err := prune(args, stream, tables); err != nil {
			return err
		}
		for i, t := range tables {
			if t.Len() > 0 && t != complete[i] {
				return fmt.Errorf("it added %d rows to table %s, which stream %s completes", t.Len(), t.Spec().Name, t.Spec().Stream)
			}
		}
		return nil
	})
}

// finish does the rest of the work that is needed before a page can leave, except making a table.
func (a *Aggregator) finish(id session.ID) error {
	for {
		if more, err := a.work(a.sessions[id]); !more || err != nil {
			return err
		}
	}
}

// Close implements role.Worker.
func (a *Aggregator) Close() {
	for _, st := range a.sessions {
		st.stop()
	}
}

// stop ends the computations.
func (st *state) stop() {
	st.pruning.Stop()
	st.maker.stop()
}

// pageRows and pageBytes bound what one call of More emits in the product (R15, R16). They are the same for every
// topology, so that a repeated call does the same.
const (
	pageRows  = 16384
	pageBytes = 4 << 20
)

// More implements role.Role. It emits one page. The edge that leaves an aggregator sends all pages of a session to one receiver (key
// "session").
//
// If files cannot be read, or do not contain what was written, the next call of Work returns the error, and the session fails. If More
// returned it, a node whose recovery repeats the call could not start.
func (a *Aggregator) More(id session.ID, out role.Emitter) (bool, error) {
	st := a.sessions[id]
	err := a.finish(id)
	switch {
	case err != nil:
	case len(st.leaving) > 0:
		err = a.page(st, out)
	case st.makes():
		err = a.madePage(st, out)
	}
	switch {
	case err != nil && st.failed != nil && (st.parts != nil || a.reads(st)):
		return true, nil
	case err != nil:
		return false, err
	}
	if len(st.leaving) == 0 && st.parts != nil && !st.nextPart() {
		st.parts = nil
	}
	return st.more(), nil
}

// page emits a page of the first table that leaves.
func (a *Aggregator) page(st *state, out role.Emitter) error {
	i := st.leaving[0]
	tables := st.tables
	if st.parts != nil {
		tables = st.parts.tables
	}
	t := tables[i]
	if err := a.emit(st, i, t, out); err != nil {
		return err
	}
	if st.next == t.Len() {
		if st.leaving, st.next = st.leaving[1:], 0; st.parts != nil {
			st.parts.left++ // the next part reuses its memory
		} else {
			tables[i] = fold.NewTable(t.Spec())
		}
	}
	return nil
}

// emit emits a page of a table.
func (a *Aggregator) emit(st *state, i int, t *fold.Table, out role.Emitter) error {
	rows := make([]int, t.Page(st.next, a.PageRows, pageBytes)-st.next)
	for k := range rows {
		rows[k] = st.next + k
	}
	st.next += len(rows)
	return a.partials.Emit(out, 0, st.stream, i, t, rows)
}

// Drop implements role.Role.
func (a *Aggregator) Drop(id session.ID, _ role.Outcome) {
	if st := a.sessions[id]; st != nil {
		st.stop()
		delete(a.sessions, id)
	}
	a.Forget(id)
}
