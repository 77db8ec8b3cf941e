package aggregator

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/internal/runs"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
)

// bytes returns the memory of those tables of a session that can move to files: of groups, and of what waits for a join.
func (st *state) bytes() (groups, waits int) {
	for i, t := range st.tables {
		switch {
		case !st.moves(i):
		case st.waiting[i] != nil:
			waits += st.waiting[i].Bytes()
		case t.Len() == 0:
		case st.Analysis.Stays(i):
			waits += t.Bytes()
		default:
			groups += t.Bytes()
		}
	}
	return groups, waits
}

// moves reports whether a table can move to files. A table that another one is being made of cannot, because the task reads it.
func (st *state) moves(i int) bool {
	return !slices.ContainsFunc(st.making, func(made int) bool { return slices.Contains(st.Analysis.MadeOf(made), i) })
}

// waitShare is which part of limits.memory the rows and groups that wait for joins take, of all sessions together, before they move to
// files. A join reads each of them once more, so to move them at limits.tables already would cost most joins of large tables time for
// nothing.
const waitShare = 4

// Excess implements role.Spiller. Of the owner whose tables take the most memory it returns the session whose tables take most. So runs are
// few and large, and an owner with many sessions does not slow down one with few.
func (a *Aggregator) Excess(limit int) (id session.ID, found bool) {
	groups, waits, most := 0, 0, math.MaxInt
	for _, st := range a.sessions {
		g, w := st.bytes()
		groups, waits = groups+g, waits+w
		if st.Replica.Memory > 0 {
			most = max(limit, st.Replica.Memory/waitShare)
		}
	}
	if groups <= limit && waits <= most {
		return id, false
	}
	sizes, owners := map[session.ID]int{}, role.Tally{}
	for _, st := range a.sessions {
		n, w := st.bytes()
		if groups <= limit {
			n = w
		}
		if n > 0 && st.failed == nil {
			sizes[st.ID] = n
			owners[st.Owner] += uint64(n)
		}
	}
	if len(sizes) == 0 {
		return id, false
	}
	owner, most := owners.Most(), 0
	for _, st := range role.ByID(a.sessions) {
		if st.Owner == owner && sizes[st.ID] > most {
			id, most = st.ID, sizes[st.ID]
		}
	}
	return id, true
}

// Spill implements role.Spiller. Tables that already leave continue from files, with the rows that have not left. Spill first finishes
// pruning, because it is not recorded how far Work had got: a recovery that repeats the call has not begun pruning.
func (a *Aggregator) Spill(id session.ID, recorded []byte) ([]byte, error) {
	st := a.sessions[id]
	if st.parts == nil && a.finish(id) != nil {
		return wire.AppendArray(nil, 0), nil // the next call of Work or More returns the error
	}
	leaves := st.parts == nil && len(st.leaving) > 0
	record, err := a.spill(st, func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	if leaves {
		st.leaving, st.next, st.parts = nil, 0, &parts{}
	}
	if recorded != nil && !bytes.Equal(recorded, record) {
		st.failed = fmt.Errorf(
			"repeating what was stored makes other files than before (%d bytes of names, %d recorded): start the session again", len(record),
			len(recorded))
	}
	return record, nil
}

// spill moves tables to files, except rows that have left, and returns the names of the files.
func (a *Aggregator) spill(st *state, which func(table int) bool) (record []byte, err error) {
	set := a.Store.Open(st.ID)
	var names []string
	for i, t := range st.tables {
		from := 0
		if st.parts == nil && len(st.leaving) > 0 && i == st.leaving[0] {
			from = st.next
		}
		w := st.waiting[i]
		if !which(i) || !st.moves(i) || w == nil && t.Len() == from || w != nil && w.Len() == 0 {
			continue
		}
		if err := t.Err(); err != nil {
			return nil, err
		}
		run, err := waitingRun(w)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Spec().Name, err)
		}
		if w == nil {
			run = runs.OfTable(t, from)
		}
		name, err := set.Add(i, run)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Spec().Name, err)
		}
		if err := t.Err(); err != nil {
			return nil, err
		}
		names = append(names, name)
		if st.grows(i) {
			st.repeats[i].spilled(t, set.Len(i))
		}
		st.empty(i)
	}
	record = wire.AppendArray(nil, len(names))
	for _, n := range names {
		record = wire.AppendString(record, n)
	}
	return record, nil
}

// repeats says whether the keys of a table repeat among the rows that are in memory at a time. If they hardly do, rows that come are not
// looked up before they move to files, because they are merged when they are read back anyway. It decides what is in the files, so it is
// in snapshots, and follows only from what came.
type repeats struct {
	unmerged bool // the table in memory is a fold.NewUnmerged
	before   int  // how many rows of it were merged into others before it was read from a snapshot
}

const (
	// hardly is how many rows there are for each that is merged into another one, at least, if keys hardly repeat. A look-up takes about a
	// sixteenth of what a row costs on its way through a file.
	hardly = 16
	// mergedAgain is after how many runs a table is merged in memory again, to see whether keys repeat now.
	mergedAgain = 8
)

// grows reports whether more rows of a table can come. How many were merged is not known afterwards, because pruning drops rows, and a
// replay may have pruned more than what it replays had.
func (st *state) grows(table int) bool { return !st.ended[role.TableStream(st.Analysis, table)] }

// spilled notes that a table has moved to files, which are so many now.
func (r *repeats) spilled(t *fold.Table, runs int) {
	if r.unmerged {
		r.unmerged = runs%mergedAgain != 0
	} else {
		r.unmerged = hardly*(r.before+t.Merged()-t.Len()) < t.Merged()
	}
	r.before = 0
}

// newTable returns the table for the rows that come next.
func (r *repeats) newTable(spec *fold.Spec) *fold.Table {
	if r.unmerged {
		return fold.NewUnmerged(spec)
	}
	return fold.NewTable(spec)
}

// perPart is how many buckets of a run have the rows of a part of a join (fold.Parts).
const perPart = runs.Buckets / fold.Parts

// waitingRun makes a run of rows that wait for a join; nil if there is no Waiting.
func waitingRun(w *fold.Waiting) (*runs.Builder, error) {
	if w == nil {
		return nil, nil
	}
	b, rows, t := runs.NewBuilder(), w.Parted(), fold.NewUnmerged(w.Spec())
	for part := range fold.Parts {
		if err := rows.Part(part, t); err != nil {
			return nil, err
		}
		for _, chunk := range t.Chunks(t.Rows(), role.PartialBytes) {
			b.Add(part*perPart, t.AppendRows(nil, chunk))
		}
		t.Reset()
	}
	return b, nil
}

// empty drops the rows that a table has in memory.
func (st *state) empty(i int) {
	if w := st.waiting[i]; w != nil {
		st.waiting[i] = fold.NewWaiting(w.Spec())
	} else {
		st.tables[i] = st.repeats[i].newTable(st.tables[i].Spec())
	}
}

// parted is the rows of a table that another one is made of: first those that have moved to files, which came first, then those in memory.
// What is joined does not depend on the order. It is that of their arrival nevertheless, so that a table that is made again after a restart
// has its rows in the same order.
type parted struct {
	set    *runs.Set
	list   int
	memory fold.Parted
}

// parted returns the rows of a table that stays.
func (a *Aggregator) parted(st *state, i int) fold.Parted {
	p := &parted{set: a.Of(st.ID), list: i}
	if w := st.waiting[i]; w != nil {
		p.memory = w.Parted()
	} else {
		p.memory = st.tables[i].Parted()
	}
	return p
}

// Part implements fold.Parted.
func (p *parted) Part(part int, to *fold.Table) error {
	for bucket := part * perPart; bucket < (part+1)*perPart; bucket++ {
		err := p.set.Read(p.list, bucket, func(entry []byte) error { to.Pause(); return to.Merge(entry) })
		if err != nil {
			return err
		}
	}
	return p.memory.Part(part, to)
}

// reads reports whether what is being made is made of files.
func (a *Aggregator) reads(st *state) bool {
	return st.makes() && slices.ContainsFunc(st.Analysis.MadeOf(st.making[0]), func(i int) bool { return a.Of(st.ID).Len(i) > 0 })
}

// inRuns reports whether a table that the stream completes has moved to files.
func (a *Aggregator) inRuns(st *state) bool {
	for i := range st.tables {
		if st.completes(i) && a.Of(st.ID).Len(i) > 0 {
			return true
		}
	}
	return false
}

// parts describes how tables leave that are in files. A part has as many buckets as make a page; it is pruned, and leaves, before the next
// part is read. Its durable state is from, left and state.next: recovery reads the part again, and finds the same rows in it.
type parts struct {
	prunes bool          // each part is pruned
	from   int           // the first bucket of the part
	to     int           // the bucket after those that have been read
	tables []*fold.Table // of the part; nil before the first one
	whole  bool          // the part has been read
	size   int           // bytes of its entries in the files
	left   int           // how many of its tables have left, counting only tables that have rows after pruning
	last   []int         // by table: how many rows the part before had; not durable
}

// sliceBytes is how many bytes of runs a call of Work reads: some milliseconds.
const sliceBytes = 1 << 20

// read reads buckets from files, as many as fit into a slice. more is false when the part is complete.
func (a *Aggregator) read(st *state) (more bool, err error) {
	p := st.parts
	if p.tables == nil {
		p.tables = role.NewTables(st.Analysis, fold.NewTable)
		p.last = make([]int, len(p.tables))
	}
	for i, t := range p.tables {
		t.Expect(p.last[i]) // pruning has dropped the index, and parts are about equally large
	}
	p.to = max(p.to, p.from)
	set := a.Of(st.ID)
	for begin := p.size; p.to < runs.Buckets && p.rows() < a.PageRows && p.size < pageBytes; p.to++ {
		if p.size-begin >= sliceBytes {
			return true, nil
		}
		for i, t := range p.tables {
			if !st.completes(i) {
				continue
			}
			err := set.Read(i, p.to, func(entry []byte) error {
				p.size += len(entry)
				return t.Merge(entry)
			})
			if err != nil {
				return false, fmt.Errorf("table %s: %w", t.Spec().Name, err)
			}
		}
	}
	for i, t := range p.tables {
		p.last[i] = t.Len()
	}
	p.whole = true
	st.begin(p.prunes)
	return st.prunes, nil
}

func (p *parts) rows() (n int) {
	for _, t := range p.tables {
		n += t.Len()
	}
	return n
}

// nextPart moves to the part after one that has left; it returns false if there is none.
func (st *state) nextPart() bool {
	p := st.parts
	for _, t := range p.tables {
		t.Reset()
	}
	*p = parts{prunes: p.prunes, from: p.to, tables: p.tables, last: p.last}
	return p.from < runs.Buckets
}
