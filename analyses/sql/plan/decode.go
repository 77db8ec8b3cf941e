package plan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// ErrDecode is wrapped by the errors of Decode: the bytes are no plans, or plans of a size that no statement leads to.
var ErrDecode = errors.New("these are no plans of statements")

// Bounds of plans that are read. Every step of a node's work walks through a plan some number of times, so they bound this work. A text of
// the greatest length stays far below them.
const (
	maxRecords = 1 << 18
	maxDepth   = 1 << 16 // of expressions within each other
	nodeDepth  = 8       // for how many of these a node counts
	maxParts   = 1 << 22 // of the expressions of all nodes, where a shared part counts each time it is used
	maxColumns = 1 << 22 // of all nodes together
)

// Decode reads what Encode wrote. length is that of the text in which the expressions have their places, and find finds functions. What it
// returns passes Check. It also returns the numbers of columns, for those that are added.
func Decode(b []byte, tables []Table, length int, find func(name string) *types.Function) (roots []Node, ids *IDs,
	err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *decodeError:
			roots, ids, err = nil, nil, e
		default:
			panic(e)
		}
	}()
	d := &decoder{b: b, tables: tables, length: length, types: []types.Type{{}}}
	roots = d.plans()
	if len(d.b) > 0 {
		d.fail("%d bytes are left over", len(d.b))
	}
	if err := Check(find, roots...); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrDecode, err)
	}
	return roots, &IDs{Last: ColumnID(len(d.types) - 1)}, nil
}

type decodeError struct{ message string }

func (e *decodeError) Error() string { return ErrDecode.Error() + ": " + e.message }
func (e *decodeError) Unwrap() error { return ErrDecode }

// decoder reads records. Its methods leave by panic(*decodeError), which Decode returns.
type decoder struct {
	b              []byte
	tables         []Table
	length         int
	at             int
	names          []string
	read           []part
	types          []types.Type // by number of a column
	parts, columns int          // so far, of maxParts and maxColumns
}

// part is a record that has been read: a node or an expression.
type part struct {
	node  Node
	expr  Expr
	depth int
	size  int // of an expression
}

func (d *decoder) fail(format string, args ...any) {
	panic(&decodeError{fmt.Sprintf(format, args...)})
}

func (d *decoder) uint() int {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > math.MaxInt32 {
		d.fail("a number is missing, or too large")
	}
	d.b = d.b[n:]
	return int(v)
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail("a number is missing, or too large")
	}
	d.b = d.b[n:]
	return v
}

// below reads a number of which there are only some.
func (d *decoder) below(limit int, what string) int {
	v := d.uint()
	if v >= limit {
		d.fail("there is no %s %d", what, v)
	}
	return v
}

// count reads how many items follow, each of which takes a byte at least.
func (d *decoder) count() int {
	n := d.uint()
	if n > len(d.b) {
		d.fail("%d items are missing", n)
	}
	return n
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail("%d bytes are missing", n)
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) text() string { return string(d.bytes(d.count())) }
func (d *decoder) name() string { return d.names[d.below(len(d.names), "name")] }
func (d *decoder) flag() bool   { return d.below(2, "flag") == 1 }

func (d *decoder) typ() (t types.Type) {
	if t.Kind = types.Kind(d.below(int(types.TextList)+1, "type")); t.Kind == types.Decimal {
		p := d.bytes(2)
		if t.Precision, t.Scale = p[0], p[1]; t.Precision < 1 || t.Precision > types.MaxPrecision || t.Scale > t.Precision {
			d.fail("there is no type %s", t)
		}
	}
	return t
}

// fields reads columns. A column that is known already keeps its type.
func (d *decoder) fields() (list []Field) {
	for n := d.count(); n > 0; n-- {
		f := Field{ID: ColumnID(d.below(len(d.types)+1, "column")), Name: d.name(), Type: d.typ()}
		if int(f.ID) == len(d.types) {
			d.types = append(d.types, f.Type)
		}
		list = append(list, f)
	}
	d.widen(len(list))
	return list
}

func (d *decoder) widen(columns int) {
	if d.columns += columns; d.columns > maxColumns {
		d.fail("the nodes have more than %d columns", maxColumns)
	}
}

// refs reads references to parts.
func (d *decoder) refs(n int) []part {
	if n > len(d.b) {
		d.fail("%d references are missing", n)
	}
	list, last := make([]part, n), int64(len(d.read))
	for i := range list {
		if i == 0 {
			last -= int64(d.uint())
		} else {
			last += d.int()
		}
		if last < 0 || last >= int64(len(d.read)) {
			d.fail("there is no record %d", last)
		}
		list[i] = d.read[last]
	}
	return list
}

// node returns the node that is referred to.
func (d *decoder) node(p part) Node {
	if p.node == nil {
		d.fail("an expression stands in place of a node")
	}
	return p.node
}

func (d *decoder) expr(p part) Expr {
	if p.expr == nil {
		d.fail("a node stands in place of an expression")
	}
	return p.expr
}

func (d *decoder) exprs(list []part) (out []Expr) {
	for _, p := range list {
		out = append(out, d.expr(p))
	}
	return out
}

func (d *decoder) plans() (roots []Node) {
	for n := d.count(); n > 0; n-- {
		d.names = append(d.names, d.text())
	}
	for n := d.count(); n > 0; n-- {
		if len(d.read) == maxRecords {
			d.fail("there are more than %d records", maxRecords)
		}
		p, refs := d.record()
		d.read = append(d.read, d.measured(p, refs))
	}
	for n := d.count(); n > 0; n-- {
		roots = append(roots, d.node(d.read[d.below(len(d.read), "record")]))
	}
	return roots
}

// measured notes how deep a part is, and how large.
func (d *decoder) measured(p part, refs []part) part {
	p.depth, p.size = 1, 1
	if p.node != nil {
		p.depth = nodeDepth
	}
	own := p.depth
	for _, r := range refs {
		p.depth = max(p.depth, r.depth+own)
		if r.expr != nil {
			p.size = min(p.size+r.size, maxParts+1)
		}
	}
	if p.node != nil {
		d.parts += p.size
	}
	if p.depth > maxDepth || d.parts > maxParts {
		d.fail("they are nested too deeply, or too large")
	}
	return p
}

func (d *decoder) record() (part, []part) {
	kind := d.uint()
	if kind <= recordSetOp {
		n, refs := d.nodeOf(kind)
		return part{node: n}, refs
	}
	x, refs := d.exprOf(kind)
	return part{expr: x}, refs
}

func (d *decoder) nodeOf(kind int) (Node, []part) {
	switch kind {
	case recordScan:
		n := &Scan{Table: &d.tables[d.below(len(d.tables), "table")]}
		for k := d.count(); k > 0; k-- {
			n.Used = append(n.Used, d.flag())
		}
		n.Out = d.fields()
		return n, nil
	case recordInline:
		return d.inline()
	case recordJoin:
		kind, pairs, rest := d.below(int(syntax.Cross)+1, "kind of join"), d.count(), d.below(2, "flag")
		refs := d.refs(2 + 2*pairs + rest)
		return d.join(syntax.JoinKind(kind), refs, rest == 1), refs
	case recordFilter:
		refs := d.refs(2)
		return &Filter{Input: d.node(refs[0]), Cond: d.expr(refs[1])}, refs
	case recordAggregation:
		return d.aggregation()
	case recordWindows:
		return d.windows()
	case recordUnnest:
		n, lists := &Unnest{Outer: d.flag()}, d.count()
		n.Out = d.fields()
		refs := d.refs(1 + lists)
		n.Input, n.Lists = d.node(refs[0]), d.exprs(refs[1:])
		n.Out = d.behind(n.Input, n.Out)
		return n, refs
	case recordProject:
		n := &Project{Out: d.fields()}
		refs := d.refs(1 + len(n.Out))
		n.Input, n.Exprs = d.node(refs[0]), d.exprs(refs[1:])
		return n, refs
	case recordDistinct:
		refs := d.refs(1 + d.count())
		return &Distinct{Input: d.node(refs[0]), On: d.exprs(refs[1:])}, refs
	case recordSort:
		n := &Sort{Keys: d.orders()}
		refs := d.refs(1 + len(n.Keys))
		n.Input = d.node(refs[0])
		d.order(n.Keys, refs[1:])
		return n, refs
	case recordLimit:
		n := &Limit{Count: d.int(), Offset: d.int()}
		refs := d.refs(1)
		n.Input = d.node(refs[0])
		return n, refs
	case recordSetOp:
		n := &SetOp{Kind: syntax.SetKind(d.below(int(syntax.Intersect)+1, "kind of set")), All: d.flag(), Out: d.fields()}
		refs := d.refs(2)
		n.L, n.R = d.node(refs[0]), d.node(refs[1])
		return n, refs
	}
	d.fail("there is no record of kind %d", kind)
	return nil, nil
}

func (d *decoder) inline() (Node, []part) {
	rows, n := d.uint(), &Inline{Out: d.fields()}
	width := len(n.Out)
	if rows > 1 && width == 0 || rows > len(d.b) {
		d.fail("%d rows are missing", rows)
	}
	refs := d.refs(rows * width)
	for i := range rows {
		n.Rows = append(n.Rows, append([]Expr{}, d.exprs(refs[i*width:(i+1)*width])...))
	}
	return n, refs
}

func (d *decoder) windows() (Node, []part) {
	calls, added := d.count(), d.fields()
	refs := d.refs(1 + calls)
	n := &Windows{Input: d.node(refs[0])}
	for _, p := range refs[1:] {
		c, is := d.expr(p).(*WindowCall)
		if !is {
			d.fail("something else stands in place of a window function")
		}
		n.Calls = append(n.Calls, c)
	}
	n.Out = d.behind(n.Input, added)
	return n, refs
}

func (d *decoder) join(kind syntax.JoinKind, refs []part, rest bool) Node {
	l, r := d.node(refs[0]), d.node(refs[1])
	d.widen(len(l.Fields()) + len(r.Fields()) + len(d.types)/64) // what NewJoin makes
	n := NewJoin(kind, l, r)
	refs = refs[2:]
	if rest {
		n.Rest = d.expr(refs[len(refs)-1])
		refs = refs[:len(refs)-1]
	}
	for pair := range slices.Chunk(refs, 2) {
		n.Equal = append(n.Equal, [2]Expr{d.expr(pair[0]), d.expr(pair[1])})
	}
	return n
}

func (d *decoder) aggregation() (Node, []part) {
	n, keys := &Aggregation{}, d.count()
	for sets := d.count(); sets > 0; sets-- {
		set := []int{}
		for k := d.count(); k > 0; k-- {
			set = append(set, d.below(keys, "key"))
		}
		n.Sets = append(n.Sets, set)
	}
	aggs := d.count()
	n.Out = d.fields()
	refs := d.refs(1 + keys + aggs)
	n.Input, n.Keys = d.node(refs[0]), d.exprs(refs[1:1+keys])
	for _, p := range refs[1+keys:] {
		a, is := d.expr(p).(*Aggregate)
		if !is {
			d.fail("something else stands in place of an aggregate")
		}
		n.Aggs = append(n.Aggs, a)
	}
	return n, refs
}

// behind returns the columns of an input with others behind them.
func (d *decoder) behind(in Node, added []Field) []Field {
	d.widen(len(in.Fields()))
	return append(slices.Clone(in.Fields()), added...)
}

// orders reads the directions of keys.
func (d *decoder) orders() (list []Order) {
	for n := d.count(); n > 0; n-- {
		flags := d.below(flagNullsFirst<<1, "direction")
		list = append(list, Order{Desc: flags&flagDescending != 0, NullsFirst: flags&flagNullsFirst != 0})
	}
	return list
}

// order gives keys to their directions.
func (d *decoder) order(list []Order, keys []part) {
	for i := range list {
		list[i].X = d.expr(keys[i])
	}
}

func (d *decoder) exprOf(kind int) (Expr, []part) {
	switch kind {
	case recordConst:
		c := &Const{Base: Base{T: d.typ()}}
		d.value(c)
		c.At = d.place()
		return c, nil
	case recordColumn:
		id := d.below(len(d.types), "column")
		return &Column{ID: ColumnID(id), Name: d.name(), Base: Base{T: d.types[id], At: d.place()}}, nil
	case recordApply:
		name, t, args := d.name(), d.typ(), d.count()
		at, refs := d.place(), d.refs(args)
		return &Apply{Base{t, at}, name, d.exprs(refs)}, refs
	case recordCast:
		c := &Cast{Base: Base{T: d.typ()}}
		flags := d.below(flagTime<<1, "flags")
		if c.Try, c.Implicit = flags&flagTry != 0, flags&flagImplicit != 0; flags&flagNarrow != 0 {
			c.Range = &types.Range{Time: flags&flagTime != 0, Min: d.int(), Max: d.int()}
		}
		c.At = d.place()
		refs := d.refs(1)
		c.X = d.expr(refs[0])
		return c, refs
	case recordAggregate:
		return d.aggregate()
	case recordWindowCall:
		return d.windowCall()
	case recordSubquery:
		q := &Subquery{Base: Base{T: d.typ()}, Number: d.uint()}
		flags := d.below(flagIn<<1, "flags")
		q.Exists, q.In = flags&flagExists != 0, flags&flagIn != 0
		q.At = d.place()
		refs := d.refs(1 + flags/flagIn)
		if q.Plan = d.node(refs[0]); q.In {
			q.X = d.expr(refs[1])
		}
		return q, refs
	}
	d.fail("there is no record of kind %d", kind)
	return nil, nil
}

func (d *decoder) place() syntax.Pos {
	if at := int64(d.at) + d.int(); at >= 0 && at <= int64(d.length) {
		d.at = int(at)
	} else {
		d.fail("a place is not in the text")
	}
	return syntax.Pos(d.at)
}

// value reads the value of a constant.
func (d *decoder) value(c *Const) {
	switch d.below(formLiteral+1, "form") {
	case formNull:
		return
	case formLiteral:
		c.Literal = true
	}
	switch c.T.Kind {
	case types.Bool:
		c.Value = d.flag()
	case types.BigInt, types.Decimal, types.Date, types.Timestamp:
		c.Value = d.int()
	case types.Double:
		c.Value = math.Float64frombits(binary.LittleEndian.Uint64(d.bytes(8)))
	case types.Text:
		c.Value = d.text()
	case types.Interval:
		months, days := d.int(), d.int()
		if int64(int32(months)) != months || int64(int32(days)) != days {
			d.fail("an INTERVAL is too long")
		}
		c.Value = Interval{Months: int32(months), Days: int32(days), Micros: d.int()}
	default:
		d.fail("%s has no constants but NULL", c.T)
	}
}

func (d *decoder) aggregate() (Expr, []part) {
	a := &Aggregate{Func: d.name(), Base: Base{T: d.typ()}}
	args, flags := d.count(), d.below(flagFilter<<1, "flags")
	a.Distinct = flags&flagDistinct != 0
	a.Order = d.orders()
	for n := d.count(); n > 0; n-- {
		a.BySet = append(a.BySet, d.int())
	}
	a.At = d.place()
	refs := d.refs(args + flags/flagFilter + len(a.Order))
	a.Args = d.exprs(refs[:args])
	if flags&flagFilter != 0 {
		a.Filter = d.expr(refs[args])
	}
	d.order(a.Order, refs[args+flags/flagFilter:])
	return a, refs
}

func (d *decoder) windowCall() (Expr, []part) {
	w := &WindowCall{Func: d.name(), Base: Base{T: d.typ()}}
	args, flags, keys := d.count(), d.below(flagHigh<<1, "flags"), d.count()
	w.Distinct, w.IgnoreNulls = flags&flagDistinct != 0, flags&flagIgnoresNulls != 0
	w.Order = d.orders()
	if flags&flagFrame != 0 {
		last := int(syntax.UnboundedFollowing) + 1
		w.Frame = &Frame{Range: flags&flagRange != 0, Lo: FrameBound{Kind: syntax.BoundKind(d.below(last, "kind of end"))},
			Hi: FrameBound{Kind: syntax.BoundKind(d.below(last, "kind of end"))}}
	} else if flags >= flagRange {
		d.fail("a frame is missing")
	}
	w.At = d.place()
	n := args + keys + len(w.Order)
	for _, one := range []int{flagFilter, flagLow, flagHigh} {
		if flags&one != 0 {
			n++
		}
	}
	refs := d.refs(n)
	rest := refs
	take := func(n int) []part {
		some := rest[:n]
		rest = rest[n:]
		return some
	}
	w.Args = d.exprs(take(args))
	if flags&flagFilter != 0 {
		w.Filter = d.expr(take(1)[0])
	}
	w.Partition = d.exprs(take(keys))
	d.order(w.Order, take(len(w.Order)))
	if flags&flagLow != 0 {
		w.Frame.Lo.X = d.expr(take(1)[0])
	}
	if flags&flagHigh != 0 {
		w.Frame.Hi.X = d.expr(take(1)[0])
	}
	return w, refs
}
