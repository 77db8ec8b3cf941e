package operators

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
)

// Lookup joins rows that arrive in pieces, the left side of a Join, with the rows of its right side, which it keeps.
type Lookup struct{ j *join }

// NewLookup computes and keeps the right side of a join. The join must not be RIGHT or FULL. wanted says which columns of the
// join are read. Only these columns of the right side are kept, and those that the join's condition reads. What a probe does counts in m.
func (x *Executor) NewLookup(n *plan.Join, wanted []bool, m *eval.Meter) (*Lookup, error) {
	j, err := x.newJoin(n, nil, wanted, m)
	if err != nil {
		return nil, err
	}
	return &Lookup{j}, nil
}

// Fork returns a Lookup of the same rows for another goroutine, which has the meter m. Both may be used at the same time, because they
// share only what no longer changes.
func (l *Lookup) Fork(m *eval.Meter) (*Lookup, error) {
	of := l.j
	j := &join{meter: m, x: of.x, n: of.n, index: &index{counted: counted{x: of.x}, ids: of.index.ids}, ints: of.ints, right: of.right,
		first: of.first, next: of.next, repeats: of.repeats, wanted: of.wanted}
	return &Lookup{j}, j.compile()
}

// Repeats reports whether a row may have several partners.
func (l *Lookup) Repeats() bool { return l.j.repeats }

// Len returns how many rows are kept.
func (l *Lookup) Len() int { return l.j.right.n }

// Probe passes on the joined rows of the selected left rows, in their order. For each joined row, left has the index of its
// left row, and right that of its right row, or -1 if it has none. They are valid during the call.
func (l *Lookup) Probe(b *Batch, to func(out *Batch, left, right []int32) error) error {
	l.j.pairs = to
	return l.j.probe(b)
}
