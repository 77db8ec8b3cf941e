package plan

import (
	"encoding/binary"
	"math"
	"slices"

	"posta.dev/posta/analyses/sql/types"
)

// Plans travel as a list of records, one for each node and each expression: a part that several others read is one record. A record comes
// after those that it refers to, so plans are read in one pass. Numbers are varints, and n* stands for a number and as many items.
//
//	plans  = names, records, roots
//	names  = (length, bytes)*
//	record = kind, fields of the kind, place, references
//	roots  = (number of a record)*
//
// The place, of an expression alone, is the difference to that of the expression before. How many references a record has follows from its
// fields. The first is the distance from the record back to the one that is meant, each further one the difference to the reference before;
// so lists of neighbours take a byte for each item.
//
//	kind         fields                                                    references
//	Scan         table, (read)*, columns                                   –
//	Inline       rows, columns                                             the cells, row by row
//	Join         kind, pairs, rest                                         left, right, the pairs, the rest
//	Filter       –                                                         input, condition
//	Aggregation  keys, (key*)* of the sets, aggregates, columns            input, keys, aggregates
//	Windows      calls, added columns                                      input, calls
//	Unnest       outer, lists, added columns                               input, lists
//	Project      columns                                                   input, expressions
//	Distinct     on                                                        input, on
//	Sort         (direction)*                                              input, keys
//	Limit        count, offset                                             input
//	SetOp        kind, all, columns                                        left, right
//	Const        type, form, value                                         –
//	Column       column, name                                              –
//	Apply        name, type, arguments                                     arguments
//	Cast         type, flags, range                                        what is converted
//	Aggregate    name, type, arguments, flags, (direction)*, (value)*      arguments, filter, order
//	WindowCall   name, type, arguments, flags, keys, (direction)*, frame   arguments, filter, keys, order, ends of the frame
//	Subquery     type, number, flags                                       plan, what is compared
//
// columns are (number, name, type)*. Columns are numbered anew, in the order in which nodes make them, so that equal plans have equal bytes
// whatever other statements their text has.
const (
	recordScan = iota + 1
	recordInline
	recordJoin
	recordFilter
	recordAggregation
	recordWindows
	recordUnnest
	recordProject
	recordDistinct
	recordSort
	recordLimit
	recordSetOp
	recordConst
	recordColumn
	recordApply
	recordCast
	recordAggregate
	recordWindowCall
	recordSubquery
)

// Flags of expressions.
const (
	flagDistinct = 1 << iota
	flagFilter
	flagIgnoresNulls
	flagFrame
	flagRange
	flagLow  // the frame's first end has a distance
	flagHigh // the last one, too
)

const (
	flagTry = 1 << iota
	flagImplicit
	flagNarrow
	flagTime
)

const (
	flagExists = 1 << iota
	flagIn
)

const (
	flagDescending = 1 << iota
	flagNullsFirst
)

// Forms of a constant.
const (
	formNull = iota
	formValue
	formLiteral
)

// Encode returns the form of plans over tables in which they travel. A part that several plans have in common travels once.
func Encode(tables []Table, roots ...Node) []byte {
	e := &encoder{place: map[any]int{}, before: map[string]int{}, names: map[string]int{}, columns: map[ColumnID]int{},
		tables: map[*Table]int{}}
	for i := range tables {
		e.tables[&tables[i]] = i
	}
	var at []byte
	for _, n := range roots {
		e.here = map[string]int{}
		at = binary.AppendUvarint(at, uint64(e.node(n)))
		for content, i := range e.here {
			e.before[content] = i
		}
	}
	b := binary.AppendUvarint(nil, uint64(len(e.list)))
	for _, name := range e.list {
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	}
	b = append(binary.AppendUvarint(b, uint64(e.n)), e.records...)
	return append(binary.AppendUvarint(b, uint64(len(roots))), at...)
}

type encoder struct {
	records []byte
	n       int         // how many there are
	at      int         // the place of the last expression
	place   map[any]int // the record of each node and expression
	// Plans of different statements may have equal parts that rules have made one by one, of a view that both read. Within a plan, equal
	// parts stay apart, because it matters how many read each of them.
	before, here map[string]int // records by content: of earlier plans, of the present one
	list         []string
	names        map[string]int
	columns      map[ColumnID]int
	tables       map[*Table]int
}

// record is a record that is being made.
type record struct {
	*encoder
	fields []byte
	refs   []int
}

func (r *record) uint(values ...int) {
	for _, v := range values {
		r.fields = binary.AppendUvarint(r.fields, uint64(v))
	}
}

func (r *record) int(v int64) { r.fields = binary.AppendVarint(r.fields, v) }

func (r *record) flags(flags ...bool) {
	v := 0
	for i, set := range flags {
		if set {
			v |= 1 << i
		}
	}
	r.uint(v)
}

func (r *record) name(name string) {
	i, known := r.names[name]
	if !known {
		i = len(r.list)
		r.list, r.names[name] = append(r.list, name), i
	}
	r.uint(i)
}

func (r *record) typ(t types.Type) {
	r.fields = append(r.fields, byte(t.Kind))
	if t.Kind == types.Decimal {
		r.fields = append(r.fields, t.Precision, t.Scale)
	}
}

// number returns the number that a column has in the encoded plans.
func (e *encoder) number(id ColumnID) int {
	if e.columns[id] == 0 {
		e.columns[id] = len(e.columns) + 1
	}
	return e.columns[id]
}

func (r *record) columnsOf(fields []Field) {
	r.uint(len(fields))
	for _, f := range fields {
		r.uint(r.number(f.ID))
		r.name(f.Name)
		r.typ(f.Type)
	}
}

func (r *record) nodes(list ...Node) {
	for _, n := range list {
		r.refs = append(r.refs, r.node(n))
	}
}

// exprs adds references to expressions, but not to those that are nil.
func (r *record) exprs(list ...Expr) {
	for _, x := range list {
		if x != nil {
			r.refs = append(r.refs, r.expr(x))
		}
	}
}

func (r *record) orders(list []Order) {
	r.uint(len(list))
	for _, o := range list {
		r.flags(o.Desc, o.NullsFirst)
	}
}

// add writes a record, and returns its number.
func (r *record) add(of any, place int, placed bool) int {
	key := binary.AppendUvarint(slices.Clip(r.fields), uint64(place))
	for _, ref := range r.refs {
		key = binary.AppendUvarint(key, uint64(ref))
	}
	content := string(key)
	if i, known := r.before[content]; known {
		r.place[of] = i
		return i
	}
	e, i := r.encoder, r.n
	e.records = append(e.records, r.fields...)
	if placed {
		e.records = binary.AppendVarint(e.records, int64(place-e.at))
		e.at = place
	}
	last := i
	for k, ref := range r.refs {
		if k == 0 {
			e.records = binary.AppendUvarint(e.records, uint64(last-ref))
		} else {
			e.records = binary.AppendVarint(e.records, int64(ref-last))
		}
		last = ref
	}
	e.n++
	e.place[of], e.here[content] = i, i
	return i
}

// node writes a node after what it refers to: only then are the columns known that it reads.
func (e *encoder) node(n Node) int {
	if i, done := e.place[n]; done {
		return i
	}
	r := &record{encoder: e}
	r.nodes(Inputs(n)...)
	r.exprs(Exprs(n)...)
	switch n := n.(type) {
	case *Scan:
		r.uint(recordScan, e.tables[n.Table], len(n.Used))
		for _, read := range n.Used {
			r.flags(read)
		}
		r.columnsOf(n.Out)
	case *Inline:
		r.uint(recordInline, len(n.Rows))
		r.columnsOf(n.Out)
	case *Join:
		r.uint(recordJoin, int(n.Kind), len(n.Equal))
		r.flags(n.Rest != nil)
	case *Filter:
		r.uint(recordFilter)
	case *Aggregation:
		r.uint(recordAggregation, len(n.Keys), len(n.Sets))
		for _, set := range n.Sets {
			r.uint(len(set))
			r.uint(set...)
		}
		r.uint(len(n.Aggs))
		r.columnsOf(n.Out)
	case *Windows:
		r.uint(recordWindows, len(n.Calls))
		r.columnsOf(n.Out[len(n.Input.Fields()):])
	case *Unnest:
		r.uint(recordUnnest)
		r.flags(n.Outer)
		r.uint(len(n.Lists))
		r.columnsOf(n.Out[len(n.Input.Fields()):])
	case *Project:
		r.uint(recordProject)
		r.columnsOf(n.Out)
	case *Distinct:
		r.uint(recordDistinct, len(n.On))
	case *Sort:
		r.uint(recordSort)
		r.orders(n.Keys)
	case *Limit:
		r.uint(recordLimit)
		r.int(n.Count)
		r.int(n.Offset)
	case *SetOp:
		r.uint(recordSetOp, int(n.Kind))
		r.flags(n.All)
		r.columnsOf(n.Out)
	}
	return r.add(n, 0, false)
}

func (e *encoder) expr(x Expr) int {
	if i, done := e.place[x]; done {
		return i
	}
	r := &record{encoder: e}
	switch x := x.(type) {
	case *Const:
		r.uint(recordConst)
		r.typ(x.T)
		r.value(x)
	case *Column:
		r.uint(recordColumn, r.number(x.ID))
		r.name(x.Name)
	case *Apply:
		r.exprs(x.Args...)
		r.call(recordApply, x.Func, x.T, x.Args)
	case *Cast:
		r.exprs(x.X)
		r.uint(recordCast)
		r.typ(x.T)
		r.flags(x.Try, x.Implicit, x.Range != nil, x.Range != nil && x.Range.Time)
		if x.Range != nil {
			r.int(x.Range.Min)
			r.int(x.Range.Max)
		}
	case *Aggregate:
		r.exprs(x.Args...)
		r.exprs(x.Filter)
		r.exprs(OrderExprs(x.Order)...)
		r.call(recordAggregate, x.Func, x.T, x.Args)
		r.flags(x.Distinct, x.Filter != nil)
		r.orders(x.Order)
		r.uint(len(x.BySet))
		for _, v := range x.BySet {
			r.int(v)
		}
	case *WindowCall:
		r.windowCall(x)
	case *Subquery:
		r.nodes(x.Plan)
		r.exprs(x.X)
		r.uint(recordSubquery)
		r.typ(x.T)
		r.uint(x.Number)
		r.flags(x.Exists, x.In)
	}
	return r.add(x, int(x.Pos()), true)
}

func (r *record) call(kind int, name string, t types.Type, args []Expr) {
	r.uint(kind)
	r.name(name)
	r.typ(t)
	r.uint(len(args))
}

func (r *record) windowCall(x *WindowCall) {
	r.exprs(x.Args...)
	r.exprs(x.Filter)
	r.exprs(x.Partition...)
	r.exprs(OrderExprs(x.Order)...)
	f := x.Frame
	if f != nil {
		r.exprs(f.Lo.X, f.Hi.X)
	}
	r.call(recordWindowCall, x.Func, x.T, x.Args)
	r.flags(x.Distinct, x.Filter != nil, x.IgnoreNulls, f != nil, f != nil && f.Range, f != nil && f.Lo.X != nil, f != nil && f.Hi.X != nil)
	r.uint(len(x.Partition))
	r.orders(x.Order)
	if f != nil {
		r.uint(int(f.Lo.Kind), int(f.Hi.Kind))
	}
}

// value writes the value of a constant.
func (r *record) value(c *Const) {
	switch v := c.Value.(type) {
	case nil:
		r.uint(formNull)
		return
	case string:
		if c.Literal {
			r.uint(formLiteral, len(v))
		} else {
			r.uint(formValue, len(v))
		}
		r.fields = append(r.fields, v...)
		return
	default:
		r.uint(formValue)
	}
	switch v := c.Value.(type) {
	case bool:
		r.flags(v)
	case int64:
		r.int(v)
	case float64:
		r.fields = binary.LittleEndian.AppendUint64(r.fields, math.Float64bits(v))
	case Interval:
		r.int(int64(v.Months))
		r.int(int64(v.Days))
		r.int(v.Micros)
	}
}
