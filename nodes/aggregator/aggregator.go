// Package aggregator is the role that holds one partition of each session's tables, by key. It hands a table on when
// the stream that fills the table has ended.
//
// The tables' specs say how cells are merged, so this role knows nothing of any analysis. Its input is recorded, because that is already folded and
// small. A table leaves page by page, as the windows of the receivers have room (R9). Rows of bags (fold.Never) are handed on as they arrive.
package aggregator

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/topology"
)

// Aggregator implements role.Role.
type Aggregator struct {
	role.Base

	// PageRows is how many rows More emits at most, 16,384 unless it is set before the first call. It must never
	// change for a data directory, because recovery repeats calls of More.
	PageRows int

	sessions map[session.ID]*state
	partials role.PartialEncoder
}

var (
	_ role.Role   = (*Aggregator)(nil)
	_ role.Worker = (*Aggregator)(nil)
)

type state struct {
	role.Session
	tables  []*fold.Table
	leaving []int      // indexes of tables that are being emitted, in order
	next    int        // first row of leaving[0] that has not left
	stream  int        // the stream that ended last
	prunes  bool       // the analysis still has to prune the tables of stream; then they leave
	pruning *role.Task // prunes; nil until it begins
	failed  error      // of pruning
}

// New returns the role.
func New() *Aggregator {
	return &Aggregator{Base: role.Base{Role: topology.Aggregator}, PageRows: pageRows, sessions: map[session.ID]*state{}}
}

// Open implements role.Role.
func (a *Aggregator) Open(s role.Session) error {
	a.sessions[s.ID] = &state{Session: s, tables: role.NewTables(s.Analysis, fold.NewTable)}
	return nil
}

// Take implements role.Role. Rows that are handed on change no state here, so they are recorded only once, in the frame that carries them.
func (a *Aggregator) Take(id session.ID, m role.Message, out role.Emitter) (durable bool, err error) {
	st := a.sessions[id]
	tables := st.tables
	bag, err := role.IsBag(tables, m.Payload)
	switch {
	case err != nil:
		return false, err
	case bag:
		out.Emit(0, role.Message{Stream: m.Stream, Payload: bytes.Clone(m.Payload)})
		return false, nil
	}
	if i, err := role.TableOf(tables, m.Payload); err != nil {
		return false, err
	} else if st.isLeaving(i) {
		return false, fmt.Errorf("rows of table %s come behind the end of stream %s, which completes it", tables[i].Spec().Name, st.Analysis.Streams[st.stream].Name)
	}
	err = role.Merge(tables, m.Payload)
	return err == nil, err
}

// isLeaving reports whether a table is being pruned or emitted.
func (st *state) isLeaving(table int) bool {
	return slices.Contains(st.leaving, table) || st.prunes && role.TableStream(st.Analysis, table) == st.stream
}

// End implements role.Role. The tables that the stream completes begin to leave.
func (a *Aggregator) End(id session.ID, stream int, _ role.Emitter) (bool, error) {
	st := a.sessions[id]
	st.stream = stream
	st.leave()
	st.prunes = st.Analysis.Prune != nil && len(st.leaving) > 0
	if st.prunes {
		st.leaving = nil // leave sets it after pruning
	}
	return st.prunes || len(st.leaving) > 0, nil
}

// leave lists the tables that the stream completes.
func (st *state) leave() {
	for i, t := range st.tables {
		if role.TableStream(st.Analysis, i) == st.stream && t.Len() > 0 {
			st.leaving = append(st.leaving, i)
		}
	}
}

// Work implements role.Worker. It does a slice of pruning.
func (a *Aggregator) Work(id session.ID) (bool, error) {
	st := a.sessions[id]
	if !st.prunes || st.failed != nil {
		return false, st.failed
	}
	if st.pruning == nil {
		st.pruning = st.prune()
	}
	_, done, err := st.pruning.Slice()
	switch {
	case err != nil:
		st.failed, st.pruning = err, nil
		return false, err
	case done:
		st.prunes, st.pruning = false, nil
		st.leave()
	}
	return st.prunes, nil
}

// prune lets the analysis drop rows that no answer needs. The analysis sees only the tables that the stream completes, since other tables may change
// between two slices. So a replay drops the same rows.
func (st *state) prune() *role.Task {
	stream, args, prune := st.stream, st.Args, st.Analysis.Prune
	where := "prune at the end of stream " + st.Analysis.Streams[stream].Name
	tables, complete := make([]*fold.Table, len(st.Analysis.Tables)), make([]*fold.Table, len(st.Analysis.Tables))
	for i := range tables {
		if role.TableStream(st.Analysis, i) == stream {
			tables[i], complete[i] = st.tables[i], st.tables[i]
		} else {
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

// finish does the rest of the pruning.
func (a *Aggregator) finish(id session.ID) error {
	for {
		if more, err := a.Work(id); !more || err != nil {
			return err
		}
	}
}

// Close implements role.Worker.
func (a *Aggregator) Close() {
	for _, st := range a.sessions {
		st.pruning.Stop()
	}
}

// pageRows and pageBytes bound what one call of More emits in the product (R15, R16). They are the same for every
// topology, so that a repeated call does the same.
const (
	pageRows  = 16384
	pageBytes = 4 << 20
)

// More implements role.Role. It emits one page. The edge that leaves an aggregator sends all of a session to one receiver (key "session").
func (a *Aggregator) More(id session.ID, out role.Emitter) (bool, error) {
	st := a.sessions[id]
	if err := a.finish(id); err != nil || len(st.leaving) == 0 {
		return false, err
	}
	i := st.leaving[0]
	t := st.tables[i]
	rows := make([]int, t.Page(st.next, a.PageRows, pageBytes)-st.next)
	for k := range rows {
		rows[k] = st.next + k
	}
	if err := a.partials.Emit(out, 0, st.stream, i, t, rows); err != nil {
		return false, err
	}
	st.next += len(rows)
	if st.next == t.Len() {
		st.tables[i] = fold.NewTable(t.Spec())
		st.leaving, st.next = st.leaving[1:], 0
	}
	return len(st.leaving) > 0, nil
}

// Drop implements role.Role.
func (a *Aggregator) Drop(id session.ID, _ role.Outcome) {
	if st := a.sessions[id]; st != nil {
		st.pruning.Stop()
		delete(a.sessions, id)
	}
}

// Snapshot implements role.Role. It first finishes pruning: pruning a half-pruned table again may drop other rows. If
// pruning fails, the next call of Work or More returns the error.
func (a *Aggregator) Snapshot(id session.ID, dst []byte) []byte {
	st := a.sessions[id]
	_ = a.finish(id)
	dst = wire.AppendArray(dst, 5)
	dst = wire.AppendUint(dst, uint64(st.stream))
	dst = wire.AppendUint(dst, uint64(st.next))
	dst = wire.AppendArray(dst, len(st.leaving))
	for _, i := range st.leaving {
		dst = wire.AppendUint(dst, uint64(i))
	}
	dst = wire.AppendBool(dst, st.prunes)
	return role.AppendTables(dst, st.tables)
}

// Restore implements role.Role.
func (a *Aggregator) Restore(id session.ID, data []byte) error {
	st := a.sessions[id]
	if st == nil {
		return errors.New("the session is not open")
	}
	d := wire.NewReader(data)
	d.ArrayOf(5)
	st.stream, st.next = int(d.Uint()), int(d.Uint())
	for n := d.Array(); n > 0; n-- {
		i := int(d.Uint())
		if i >= len(st.tables) {
			return fmt.Errorf("table %d of %d", i, len(st.tables))
		}
		st.leaving = append(st.leaving, i)
	}
	st.prunes = d.Bool()
	if err := role.ReadTables(&d, st.tables); err != nil {
		return err
	}
	return d.Done()
}
