package exec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// Rows wait in the aggregators in columns: each key of their partition is a key of the table, and so is each other column that travels.
// TEXT is a KeyText, and every other type a KeyInt. A key has the form of those of groups (keys.go), so that both meet; beside it a DOUBLE
// is its bits, because -0 is not 0 there. A table has few columns, and some types are no keys. What is left is in one text:
//
//	NULL    0x00
//	value   0x01, then
//	  BIGINT, DECIMAL, DATE, TIMESTAMP   a varint
//	  TEXT                               its length, a uvarint, and its bytes
//	  any other                          as in codec.go, after its first byte

// appendPacked appends the value of a row.
func appendPacked(b []byte, v *eval.Vector, row int32) []byte {
	switch {
	case v.IsNull(row):
		return append(b, 0)
	case v.Kind == types.Text:
		return append(binary.AppendUvarint(append(b, values.Present), uint64(len(v.Texts[row]))), v.Texts[row]...)
	case values.IsInteger(v.Kind):
		return binary.AppendVarint(append(b, values.Present), v.Ints[row])
	}
	return values.Append(b, v, row, false)
}

// cutPacked appends the value that b begins with to v, which has n rows, and returns the rest of b.
func cutPacked(v *eval.Vector, n int, b []byte) (rest []byte, err error) {
	switch {
	case len(b) == 0:
		return nil, values.ErrMalformed
	case b[0] == 0:
		if _, err = values.Cut(v, n, []byte{values.Null}); err != nil {
			return nil, err
		}
		return b[1:], nil
	case v.Kind != types.Text && !values.IsInteger(v.Kind):
		return values.Cut(v, n, b)
	}
	for len(v.Nulls) < n/64+1 {
		v.Nulls = append(v.Nulls, 0)
	}
	if v.Kind == types.Text {
		size, used := binary.Uvarint(b[1:])
		if used <= 0 || size > uint64(len(b)-1-used) {
			return nil, values.ErrMalformed
		}
		b = b[1+used:]
		v.Texts = append(v.Texts, string(b[:size]))
		return b[size:], nil
	}
	i, used := binary.Varint(b[1:])
	if used <= 0 {
		return nil, values.ErrMalformed
	}
	v.Ints = append(v.Ints, i)
	return b[1+used:], nil
}

// travelling describes the columns of rows that wait.
type travelling struct {
	keyed  []int // by key, the column of the rows that it is; -1: none
	beside []int // the columns that are keys of their own
	packed []int // those that are in one text
}

// travels returns which columns of a leaf travel, and how.
func (l *Leaf) travels() (t travelling) {
	t.keyed = l.inKey()
	room := fold.MaxKeys - len(l.Parts) - 1 // one is for those that are packed
	for c, needed := range l.Needed {
		switch {
		case !needed || slices.Contains(t.keyed, c):
		case len(t.beside) < room && values.Ordered(l.Fields[c].Type.Kind):
			t.beside = append(t.beside, c)
		default:
			t.packed = append(t.packed, c)
		}
	}
	return t
}

// partSpec describes the table of rows that wait.
func (l *Leaf) partSpec(name, stream string) fold.Spec {
	s := fold.Spec{Name: name, Stream: stream, Merge: fold.Never, PartitionBy: len(l.Parts), Nulls: true}
	add := func(kind types.Kind) {
		s.Keys = append(s.Keys, fold.Key{Name: "k" + Itoa(len(s.Keys)), Kind: keyKind(kind)})
	}
	for _, e := range l.Parts {
		add(e.Type().Kind)
	}
	t := l.travels()
	for _, c := range t.beside {
		add(l.Fields[c].Type.Kind)
	}
	if len(t.packed) > 0 {
		add(types.Text)
	}
	return s
}

// keepParts sends rows to the aggregators by the keys of their partitions.
func (w *worker) keepParts(t *fold.Table, b *operators.Batch) error {
	if err := w.runKeys(b); err != nil {
		return err
	}
	if w.DropNull {
		for _, v := range w.vector {
			b.Sel = withValues(b.Sel, v)
		}
	}
	if w.travel.keyed == nil {
		w.travel = w.travels()
	}
	vectors := w.vector
	for _, c := range w.travel.beside {
		vectors = append(vectors, b.Columns[c])
	}
	if len(w.travel.packed) > 0 {
		packed, err := w.pack(b)
		if err != nil {
			return err
		}
		vectors = append(vectors, packed)
	}
	keys, err := w.maker.of(vectors, b.Sel)
	if err != nil {
		return err
	}
	for k := len(w.vector); k < len(keys); k++ {
		if v := vectors[k]; v.Kind == types.Double {
			for _, i := range b.Sel {
				keys[k].Ints[i] = int64(math.Float64bits(v.Floats[i]))
			}
		}
	}
	w.vector = vectors[:len(w.vector)]
	w.into = t.RowsOf(keys, b.Sel, w.into[:0])
	return nil
}

// withValues returns the rows of sel in which a column is not NULL, in the memory of sel.
func withValues(sel []int32, v *eval.Vector) []int32 {
	if !v.Any {
		return sel
	}
	return slices.DeleteFunc(sel, v.IsNull)
}

// pack puts the columns that are no keys into one text for each row.
func (w *worker) pack(b *operators.Batch) (*eval.Vector, error) {
	v := eval.NewVector(types.Text, b.N)
	for _, i := range b.Sel {
		w.row = w.row[:0]
		for _, c := range w.travel.packed {
			if w.row = appendPacked(w.row, b.Columns[c], i); len(w.row) > FoldBytes {
				return nil, errWide
			}
		}
		v.Texts[i] = string(w.row)
	}
	return v, nil
}

// waited yields the waiting rows of a source in the order in which the aggregator got them.
func (l *Leaf) waited(t *fold.Table, yield func(*operators.Batch) error) error {
	travel := l.travels()
	for lo := 0; lo < t.Len(); lo += AtOnce {
		t.Pause()
		n := min(AtOnce, t.Len()-lo)
		r := &operators.Batch{N: n, Columns: make([]*eval.Vector, len(l.Fields))}
		for k, c := range travel.keyed {
			if c >= 0 && l.Needed[c] {
				r.Columns[c] = readKeys(t, k, l.Fields[c].Type.Kind, lo, n)
			}
		}
		for k, c := range travel.beside {
			r.Columns[c] = readKeys(t, len(l.Parts)+k, l.Fields[c].Type.Kind, lo, n)
		}
		if err := l.unpack(t, travel, r, lo); err != nil {
			return err
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

// unpack reads the columns that are in one text for each row.
func (l *Leaf) unpack(t *fold.Table, travel travelling, r *operators.Batch, from int) error {
	if len(travel.packed) == 0 {
		return nil
	}
	for _, c := range travel.packed {
		r.Columns[c] = &eval.Vector{Kind: l.Fields[c].Type.Kind}
	}
	for i := range r.N {
		b, err := t.KeyText(from+i, len(l.Parts)+len(travel.beside)), error(nil)
		for _, c := range travel.packed {
			if b, err = cutPacked(r.Columns[c], i, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// readKeys returns key k of n rows of a table of rows that wait. A DOUBLE is none that partitions them.
func readKeys(t *fold.Table, k int, kind types.Kind, from, n int) *eval.Vector {
	v := eval.NewVector(kind, n)
	v.Any = t.KeyNulls(k, from, n, v.Nulls)
	switch kind {
	case types.Text:
		t.KeyTexts(v.Texts, k, from)
	case types.Bool, types.Double:
		for i, x := range t.KeyInts(make([]int64, n), k, from) {
			if kind == types.Double {
				v.Floats[i] = math.Float64frombits(uint64(x))
			} else {
				eval.Unsort(v, int32(i), uint64(x)^1<<63)
			}
		}
	default:
		t.KeyInts(v.Ints, k, from)
	}
	return v
}

// PartSource gives package operators the rows of one part of a region.
type PartSource struct {
	R      *Region
	Tables []*fold.Table // all tables of the analysis
}

func (p PartSource) Has(n plan.Node) bool { _, ok := p.R.Of[n]; return ok }

// Count implements operators.Counter: in a region the order of rows does not matter.
func (p PartSource) Count(n plan.Node) int { return p.Tables[p.R.Sources[p.R.Of[n]].Table].Len() }

func (p PartSource) Read(n plan.Node, yield func(*operators.Batch) error) error {
	l := p.R.Sources[p.R.Of[n]]
	if l.Keep == KeepGroups {
		if p.R.Early[n] {
			return l.Groups.early(p.Tables[l.Table], yield)
		}
		return l.Groups.rows(p.Tables[l.Table:], nil, true, yield)
	}
	return l.waited(p.Tables[l.Table], yield)
}

// partBytes bounds the bytes of rows, groups and values that an aggregator keeps while it computes one part of a region.
const partBytes = 256 << 20

// settleRows is how many rows are accumulated before the sums are written to the table, so that the table can be sent.
const settleRows = 1 << 16

// FinishPart computes one part of a region, and folds its rows into the region's table.
func (s *Fragments) FinishPart(table int, tables []*fold.Table, full func()) error {
	var r *Region
	for _, g := range s.Regions {
		if g.Leaf.Table == table {
			r = g
		}
	}
	if r == nil {
		return fmt.Errorf("table %d is made of no others", table)
	}
	j := &Joiner{text: s.Text, tables: tables, Most: math.MaxInt64}
	w := &worker{Leaf: r.Leaf, meter: eval.NewMeter()}
	w.meter.Pause = tables[table].Pause
	if err := w.prepare(nil); err != nil {
		return err
	}
	t := tables[table]
	most := withinMemory(partBytes, t.Memory())
	w.meter.Limit(t.Memory())
	x := operators.New(PartSource{r, tables}, int64(most), r.Base)
	defer x.Close()
	x.SetPause(t.Pause)
	x.SetScratch(t.Scratch())
	x.Limit(t.Memory())
	settled := 0
	err := x.Each(r.Base, func(b *operators.Batch) error {
		t.Pause()
		if r.Keys > 0 {
			w.pos.groups = b.Columns[:r.Keys]
		}
		w.sel = append(w.sel[:0], b.Sel...)
		rows := &operators.Batch{Columns: b.Columns, N: b.N, Sel: w.sel}
		w.cache.Forget()
		w.meter.Release()
		if err := w.after(0, j, rows, rows.Columns); err != nil {
			return s.valueError(err)
		}
		if settled += len(b.Sel); settled >= settleRows {
			settled = 0
			w.settle(t)
			full()
		}
		return t.Err()
	})
	if errors.Is(err, operators.ErrMemory) {
		err = fmt.Errorf(
			"the rows of one part of the join by %s in one aggregator: %w; a single key that most rows have has all of them in one part",
			r.KeyNames(), err)
		return lowered(err, most, partBytes)
	}
	if err != nil {
		return s.located(err)
	}
	w.settle(t)
	return t.Err()
}

// valueError adds the place in the statement to an error about a value of a joined row.
func (s *Fragments) valueError(err error) error {
	e := (*eval.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	return syntax.NewError(s.Text, e.At, e.Message, "")
}
