package sim

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// The simulated analysis. It is small and contains everything that the engine treats specially: reference rows of which the last one
// counts; a table that reference rows fill and that is complete before any fact; exact sums of floats whose rounded sum depends on the
// order; several tables of one stream that are merged in different ways; a parameter; rows that are rejected; rows that make a function
// panic.

const (
	streamGroups = iota // key, group: the last row of a key counts
	streamFacts         // key, value
)

const (
	tableMembers = iota // reference rows by group; only the first joiner counts them
	tableTotals         // rows, and their exact sum, by group
	tablePeaks          // the largest key by group, twice: so a row that fits into a frame makes a row that does not
	tableKeys           // the largest key by group, twice: so a row that fits into a frame makes a row that does not
	tableSizes          // how long the keys are, by group
)

// noGroup is the group of facts whose key is in no group.
const noGroup = "nobody"

// Rows and parameters that make the analysis panic, by role.
const (
	poisonParse  = "poison-parse"
	poisonJoin   = "poison-join"
	poisonReduce = "reduce"
)

// poisonPanic is the value of that panic.
const poisonPanic = "this row is poison"

func newAnalysis(w *world) *analyses.Analysis {
	return &analyses.Analysis{
		Name: "simulated", About: "sums by group",
		Params: []analyses.Param{
			{Name: "at_least", Default: "-1e300", About: "smaller values do not count", Check: checkNumber},
			{Name: "explode", Default: "no", About: "where to panic"},
			{Name: "members", Default: "0", About: "how many reference rows there are"},
			{Name: "rows", Default: "0", About: "how many facts count"},
		},
		Streams: []analyses.Stream{
			{
				Name: "groups", Reference: true, Files: "*/groups.csv",
				Columns: []analyses.Column{{Name: "key"}, {Name: "group"}},
				Schema:  []batch.FieldSpec{{Name: "key", Kind: batch.Text}, {Name: "group", Kind: batch.Text}},
			},
			{
				Name: "facts", Files: "*/facts.csv",
				Columns: []analyses.Column{{Name: "key"}, {Name: "value"}},
				Schema:  []batch.FieldSpec{{Name: "key", Kind: batch.Dict}, {Name: "value", Kind: batch.Float}, {Name: "again", Kind: batch.Text}},
			},
		},
		Tables: []fold.Spec{
			{Name: "members", Stream: "groups", Keys: groupKey(), Aggs: []fold.Agg{{Name: "rows", Kind: fold.Sum}}},
			{Name: "totals", Stream: "facts", Keys: groupKey(), Aggs: []fold.Agg{{Name: "rows", Kind: fold.Sum}, {Name: "sum", Kind: fold.Exact}}},
			{Name: "peaks", Stream: "facts", Keys: groupKey(), Aggs: []fold.Agg{{Name: "key", Kind: fold.MaxText}}, Merge: fold.Late},
			{Name: "keys", Stream: "facts", Keys: append(groupKey(), fold.Key{Name: "bytes", Kind: fold.KeyInt}), Merge: fold.Never},
			{Name: "sizes", Stream: "facts", Keys: groupKey(), Aggs: []fold.Agg{{Name: "bytes", Kind: fold.Counts}}},
		},
		Queries: []analyses.Query{
			{Name: "members", Columns: []string{"group", "rows"}, Tables: []string{"members"}},
			{Name: "totals", Columns: []string{"group", "rows", "sum", "mean"}, Tables: []string{"totals"}},
			{Name: "peaks", Columns: []string{"group", "key"}, Tables: []string{"peaks"}},
			{Name: "keys", Columns: []string{"group", "bytes"}, Tables: []string{"keys"}, Rows: keyRows, Order: keyOrder},
			{Name: "sizes", Columns: []string{"group", "bytes", "facts"}, Tables: []string{"sizes"}},
		},
		NewParser: newParser,
		NewJoiner: func(args analyses.Args, r analyses.Replica) (analyses.Joiner, error) {
			least, err := strconv.ParseFloat(args[0], 64)
			all, _ := strconv.Atoi(args[2])
			return &tally{w: w, all: all, first: r.Index == 0, least: least, groups: map[string]member{}, members: map[string]int64{},
				totals: fold.NewTable(&totalsSpec)}, err
		},
		Reduce: func(args analyses.Args, query int, tables []*fold.Table, emit func(row ...any)) error {
			if query == tableTotals {
				w.counts(args[3], tables[0])
			}
			pause(tables)
			return reduce(args, query, tables, emit)
		},
		Faster: analyses.Faster{ReferenceLater: true, Prune: func(_ analyses.Args, _ int, tables []*fold.Table) error {
			pause(tables)
			for _, t := range tables {
				t.Retain(func(row int) bool { return len(t.KeyText(row, 0)) > 0 })
			}
			pause(tables)
			return nil
		}},
	}
}

// pause makes a computation take several slices, like the computation of a long answer.
func pause(tables []*fold.Table) {
	for range 20 {
		tables[0].Pause()
	}
}

func groupKey() []fold.Key { return []fold.Key{{Name: "group", Kind: fold.KeyText}} }

// totalsSpec is the table into which a joiner folds facts until it flushes.
var totalsSpec = fold.Spec{
	Name: "folded", Keys: groupKey(),
	Aggs: []fold.Agg{{Name: "rows", Kind: fold.Sum}, {Name: "sum", Kind: fold.Exact}, {Name: "key", Kind: fold.MaxText}},
}

func checkNumber(v string) error {
	_, err := strconv.ParseFloat(v, 64)
	return err
}

func newParser(_ analyses.Args, stream int, _ analyses.File, b *batch.Builder) (func([][]byte) error, error) {
	if stream == streamGroups {
		return func(f [][]byte) error {
			if len(f[0]) == 0 || len(f[1]) == 0 {
				return fmt.Errorf("empty field")
			}
			b.Text(0).Append(f[0])
			b.Text(1).Append(f[1])
			return nil
		}, nil
	}
	return func(f [][]byte) error {
		if string(f[1]) == poisonParse {
			panic(poisonPanic)
		}
		v, err := strconv.ParseFloat(string(f[1]), 64)
		if err != nil {
			return fmt.Errorf("value %q is not a number", f[1])
		}
		b.Dict(0).Append(f[0])
		b.Float(1).Append(v)
		b.Text(2).Append(f[0]) // a batch may be twice as large as its rows (R15)
		return nil
	}, nil
}

// member is the group of a key, and the place of the row that sets it.
type member struct {
	group string
	file  string
	line  uint64
	row   int
}

func (m member) before(o member) bool {
	return cmp.Or(cmp.Compare(m.file, o.file), cmp.Compare(m.line, o.line), cmp.Compare(m.row, o.row)) < 0
}

type tally struct {
	w       *world
	all     int  // number of reference rows in all
	seen    int  // how many of them came
	ended   bool // they have ended
	first   bool
	least   float64
	groups  map[string]member
	members map[string]int64
	totals  *fold.Table
	keys    []keySize // of each fact
	pause   func()    // of a fork that works in slices
}

// keySize is a fact's group, and how long its key is.
type keySize struct {
	group string
	bytes int64
}

func (j *tally) Reference(_ int, b *batch.Batch, pos analyses.Position) error {
	for i := range b.Rows() {
		key := string(b.Texts(0).At(i))
		if key == poisonJoin {
			panic(poisonPanic)
		}
		j.seen++
		m := member{string(b.Texts(1).At(i)), pos.File.Name, pos.Line, i}
		if old, ok := j.groups[key]; !ok || old.before(m) {
			j.groups[key] = m
		}
		if j.first {
			j.members[m.group]++
		}
	}
	return nil
}

func (j *tally) Facts(_ int, b *batch.Batch, _ analyses.Position) error {
	if !j.ended {
		j.w.fail("R11: a joiner takes facts, and its analysis has not heard that the reference data has ended")
	}
	if j.seen < j.all && j.w.mayCount() {
		j.w.fail("R11: a joiner takes facts when it has %d of %d reference rows", j.seen, j.all)
	}
	keys, values := b.Dicts(0), b.Floats(1)
	for i := range b.Rows() {
		key := keys.At(i)
		if string(key) == poisonJoin {
			panic(poisonPanic)
		}
		if j.pause != nil && i%2 == 1 {
			j.pause()
		}
		v := values.At(i)
		if v < j.least {
			continue
		}
		group := noGroup
		if m, ok := j.groups[string(key)]; ok {
			group = m.group
		}
		row := j.totals.Row(j.totals.Key().String(group))
		j.totals.AddSum(row, 0, 1)
		j.totals.AddFloat(row, 1, v)
		j.totals.PutMaxText(row, 2, append(bytes.Clone(key), key...))
		j.keys = append(j.keys, keySize{group, int64(len(key))})
	}
	return nil
}

// Fork implements analyses.Forker: where the parser and the joiner share a node, facts are folded in forks.
func (j *tally) Fork(int) (analyses.Joiner, error) {
	f := *j
	f.members, f.totals, f.keys = nil, fold.NewTable(&totalsSpec), nil
	return &f, nil
}

// ForkSliced implements analyses.Slicer: in half of the sessions a joiner folds a batch in slices.
func (j *tally) ForkSliced(_ int, pause func()) (analyses.Joiner, error) {
	if len(j.groups)%2 == 0 {
		return nil, nil
	}
	f := *j
	f.members, f.totals, f.keys, f.pause = nil, fold.NewTable(&totalsSpec), nil, pause
	return &f, nil
}

func (j *tally) End(stream int) error {
	j.ended = j.ended || stream == streamGroups
	return nil
}

func (j *tally) Flush(tables []*fold.Table) error {
	for _, group := range slices.Sorted(maps.Keys(j.members)) { // sorted, so that a seed makes the same bytes each time
		t := tables[tableMembers]
		t.AddSum(t.Row(t.Key().String(group)), 0, j.members[group])
	}
	clear(j.members)
	for _, row := range j.totals.Sorted(nil) {
		group := bytes.Clone(j.totals.KeyText(row, 0))
		t := tables[tableTotals]
		to := t.Row(t.Key().Text(group))
		t.AddSum(to, 0, j.totals.Sum(row, 0))
		t.AddExact(to, 1, j.totals.Exact(row, 1))
		p := tables[tablePeaks]
		if key, ok := j.totals.MaxText(row, 2); ok {
			p.PutMaxText(p.Row(p.Key().Text(group)), 0, key)
		}
	}
	j.totals.Reset()
	for _, k := range j.keys {
		t := tables[tableKeys]
		t.Row(t.Key().String(k.group).Int(k.bytes))
		t = tables[tableSizes]
		t.AddCount(t.Row(t.Key().String(k.group)), 0, k.bytes, 1)
	}
	j.keys = nil
	return nil
}

// counts checks, when the reducer computes, that it has all facts (R12), and no fact twice (R5). A wrong answer would show the bug, too,
// but not its cause.
func (w *world) counts(want string, totals *fold.Table) {
	rows, all := int64(0), int64(0)
	for _, row := range totals.Sorted(nil) {
		rows += totals.Sum(row, 0)
	}
	all, _ = strconv.ParseInt(want, 10, 64)
	switch {
	case !w.mayCount() || rows == all:
	case rows < all:
		w.fail("R12: a reducer computes when it has %d of %d facts", rows, all)
	default:
		w.fail("R5: a reducer has %d facts of %d", rows, all)
	}
}

// mayCount reports whether the rows that nodes hold must be those of one upload: no disk was lost, and no client uses
// another client's id.
func (w *world) mayCount() bool { return w.losses == 0 && !w.faults.rivals }

// keyOrder sorts the rows of keyRows by their columns, in a way that needs all that an order can say.
var keyOrder = []analyses.Order{{Column: -1, NullsFirst: true}, {Column: 0}, {Column: -1, Desc: true}, {Column: 1}}

// keyRows makes rows of the answer that outputs sort.
func keyRows(_ analyses.Args, t *fold.Table, emit func(row ...any)) error {
	for row := range t.Len() {
		emit(nil, string(t.KeyText(row, 0)), -t.KeyInt(row, 1), t.KeyInt(row, 1))
	}
	return nil
}

func reduce(args analyses.Args, query int, tables []*fold.Table, emit func(row ...any)) error {
	t := tables[0]
	for _, row := range t.Sorted(nil) {
		group := string(t.KeyText(row, 0))
		switch query {
		case tableMembers:
			emit(group, t.Sum(row, 0))
		case tableTotals:
			if args[1] == poisonReduce {
				panic(poisonPanic)
			}
			n := t.Sum(row, 0)
			emit(group, n, t.Exact(row, 1).Value(), t.Exact(row, 1).Mean(n))
		case tablePeaks:
			key, _ := t.MaxText(row, 0)
			emit(group, string(key))
		case tableSizes:
			for size, n := range t.Counts(row, 0) {
				emit(group, size, n)
			}
		}
	}
	return nil
}
