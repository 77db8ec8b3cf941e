package operators

import (
	"slices"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/values"
)

// windows keeps the rows of its input, and adds a column for each call. Rows keep their order.
func (x *Executor) windows(n *plan.Windows, to sink) error {
	width := len(n.Input.Fields())
	fields := slices.Clone(n.Input.Fields())
	var exprs []plan.Expr
	calls := make([]*window, len(n.Calls))
	for i, c := range n.Calls {
		w := &window{x: x, call: c}
		calls[i] = w
		column := func(list []plan.Expr) (at []int) {
			for _, e := range list {
				at = append(at, width+len(exprs))
				exprs = append(exprs, e)
				fields = append(fields, plan.Field{Type: e.Type()})
			}
			return at
		}
		args := c.Args
		if w.of = aggregate.Find(c.Func); w.of != nil {
			args = w.of.Arguments(args)
			w.state = func() aggregate.State { return w.of.New(aggregate.Call{At: c.At, Type: c.T, Args: args}) }
		}
		w.argsAt, w.partitionAt = column(guarded(args, c.Filter)), column(c.Partition)
		for _, o := range c.Order {
			w.orderAt = append(w.orderAt, column([]plan.Expr{o.X})...)
		}
		if c.Filter != nil {
			w.filterAt = column([]plan.Expr{c.Filter})
		}
	}
	programs, err := x.compileAll(exprs, plan.LayoutOf(n.Input.Fields()))
	if err != nil {
		return err
	}
	s := &windowing{x: x, width: width, fields: fields, calls: calls, rows: x.newSpilling(fields)}
	defer s.release()
	err = x.stream(n.Input, func(b *Batch) error {
		values, failed := evalAll(programs, b)
		if values == nil {
			return failed
		}
		return handOn(b, append(slices.Clone(b.Columns), values...), b.Sel, failed, s.add)
	})
	if err != nil {
		return err
	}
	return s.finish(to)
}

// guarded makes arguments NULL, without computing them, in rows that FILTER excludes.
func guarded(args []plan.Expr, filter plan.Expr) []plan.Expr {
	if filter == nil {
		return args
	}
	out := slices.Clone(args)
	for i, a := range args {
		if _, plain := a.(*plan.Column); !plain {
			null := plan.Value(a.Type(), a.Pos(), nil)
			out[i] = plan.Call(a.Type(), a.Pos(), "CASE", filter, a, null)
		}
	}
	return out
}

// window is a window function while it is computed.
type window struct {
	x                            *Executor
	call                         *plan.WindowCall
	of                           *aggregate.Aggregate // nil for functions that are only window functions
	state                        func() aggregate.State
	argsAt, partitionAt, orderAt []int // indexes of columns in the store
	filterAt                     []int
	args                         []*eval.Vector
	keys                         []values.Key
	filter                       *eval.Vector
	out                          *eval.Vector

	// State of the partition that is being computed:
	rows               []int32 // in the order of the window
	peerStart, peerEnd []int32 // by place: the first place with an equal key, and the one after the last
}

// compute returns the values of the window function for all rows.
func (w *window) compute(s *store) (*eval.Vector, error) {
	pick := func(at []int) (list []*eval.Vector) {
		for _, i := range at {
			list = append(list, s.columns[i])
		}
		return list
	}
	w.args, w.keys = pick(w.argsAt), w.keys[:0]
	for i, v := range pick(w.orderAt) {
		w.keys = append(w.keys, values.Key{V: v, Desc: w.call.Order[i].Desc, NullsFirst: w.call.Order[i].NullsFirst})
	}
	if f := pick(w.filterAt); f != nil {
		w.filter = f[0]
	}
	w.out = eval.NewVector(w.call.T.Kind, s.n)
	index := w.x.newIndex()
	defer index.release()
	var partitions [][]int32
	partition := pick(w.partitionAt)
	bytes := int64(s.n) * 16
	if w.call.Distinct {
		bytes += int64(s.n) * 8
	}
	if err := w.x.hold(bytes); err != nil {
		return nil, err
	}
	defer func() { w.x.held -= bytes }()
	for i := range int32(s.n) {
		index.row(partition, i)
		id, fresh, err := index.id()
		if err != nil {
			return nil, err
		}
		if fresh {
			partitions = append(partitions, nil)
		}
		partitions[id] = append(partitions[id], i)
	}
	for _, rows := range partitions {
		w.rows = rows
		if len(w.keys) > 0 {
			values.Sort(w.rows, w.keys, w.x.pause)
		}
		w.findPeers()
		if err := w.partition(); err != nil {
			return nil, err
		}
	}
	for i, f := range w.out.Floats { // so it does not matter which of several equal values was taken
		w.out.Floats[i] = values.Positive(f)
	}
	return w.out, nil
}

func (w *window) findPeers() {
	n := len(w.rows)
	w.peerStart, w.peerEnd = slices.Grow(w.peerStart[:0], n)[:n], slices.Grow(w.peerEnd[:0], n)[:n]
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && values.CompareRows(w.keys, w.rows[lo], w.rows[hi]) == 0 {
			hi++
		}
		for i := lo; i < hi; i++ {
			w.peerStart[i], w.peerEnd[i] = int32(lo), int32(hi)
		}
		lo = hi
	}
}

func (w *window) partition() error {
	switch w.call.Func {
	case "row_number":
		for i, r := range w.rows {
			w.out.Ints[r] = int64(i + 1)
		}
	case "rank":
		for i, r := range w.rows {
			w.out.Ints[r] = int64(w.peerStart[i] + 1)
		}
	case "dense_rank":
		rank := int64(0)
		for i, r := range w.rows {
			if int(w.peerStart[i]) == i {
				rank++
			}
			w.out.Ints[r] = rank
		}
	case "ntile":
		return w.ntile()
	case "lag", "lead":
		w.shifted(w.call.Func == "lag")
	case "first_value", "last_value":
		return w.framed(w.edge(w.call.Func == "last_value"))
	default:
		of, err := w.folder()
		if err != nil {
			return err
		}
		return w.framed(of)
	}
	return nil
}

// ntile splits the partition into parts; the first ones may have one row more.
func (w *window) ntile() error {
	v, total := w.args[0], int64(len(w.rows))
	for i, r := range w.rows {
		if v.IsNull(r) {
			w.out.SetNull(r)
			continue
		}
		n := v.Ints[r]
		if n < 1 {
			return &values.Error{At: w.call.At, Message: "ntile needs a number above 0"}
		}
		n = min(n, total)
		size, more, at := total/n, total%n, int64(i)
		if large := more * (size + 1); at < large {
			w.out.Ints[r] = at/(size+1) + 1
		} else {
			w.out.Ints[r] = more + (at-large)/size + 1
		}
	}
	return nil
}

// shifted is lag and lead: the value of a row some places before or after. With IGNORE NULLS, only values that are not NULL
// count.
func (w *window) shifted(back bool) {
	v, n := w.args[0], len(w.rows)
	var some []int32 // places of the values that count
	before := make([]int, n+1)
	for i, r := range w.rows {
		before[i] = len(some)
		if !w.call.IgnoreNulls || !v.IsNull(r) {
			some = append(some, int32(i))
		}
	}
	before[n] = len(some)
	for i, r := range w.rows {
		by := int64(1)
		if len(w.args) > 1 {
			if w.args[1].IsNull(r) {
				w.out.SetNull(r)
				continue
			}
			by = w.args[1].Ints[r]
		}
		if !back {
			by = -by
			if by == -by && by != 0 { // by is the least BIGINT
				by++
			}
		}
		at := -1
		switch {
		case by == 0:
			at = i
		case by > 0 && by <= int64(before[i]):
			at = int(some[before[i]-int(by)])
		case by < 0 && -by <= int64(len(some)-before[i+1]) && -by > 0:
			at = int(some[before[i+1]+int(-by)-1])
		}
		switch {
		case at >= 0:
			values.Copy(w.out, r, v, w.rows[at])
		case len(w.args) > 2:
			values.Copy(w.out, r, w.args[2], r)
		default:
			w.out.SetNull(r)
		}
	}
}

// frameFold computes the value of a row from the places start up to end, which do not decrease from row to row. The range may be empty.
type frameFold func(row int32, start, end int) error

// framed calls a frameFold with the frame of each row.
func (w *window) framed(f frameFold) error {
	frames, err := w.frames()
	if err != nil {
		return err
	}
	n := len(w.rows)
	for i, r := range w.rows {
		start, end := frames(i)
		start, end = min(max(start, 0), n), min(max(end, 0), n)
		if err := f(r, start, max(start, end)); err != nil {
			return err
		}
	}
	return nil
}

// edge is first_value and last_value.
func (w *window) edge(last bool) frameFold {
	v, n := w.args[0], len(w.rows)
	next, previous := make([]int, n+1), make([]int, n+1) // the first place from here on, and the last before it, whose value counts
	next[n] = n
	for i := n - 1; i >= 0; i-- {
		next[i] = next[i+1]
		if !w.call.IgnoreNulls || !v.IsNull(w.rows[i]) {
			next[i] = i
		}
	}
	previous[0] = -1
	for i, r := range w.rows {
		previous[i+1] = previous[i]
		if !w.call.IgnoreNulls || !v.IsNull(r) {
			previous[i+1] = i
		}
	}
	return func(row int32, start, end int) error {
		at := next[start]
		if last {
			at = previous[end]
		}
		if at < start || at >= end {
			w.out.SetNull(row)
			return nil
		}
		values.Copy(w.out, row, v, w.rows[at])
		return nil
	}
}

// folder returns the frameFold of an aggregate.
func (w *window) folder() (frameFold, error) {
	switch s := w.state().(type) {
	case aggregate.Slider:
		return w.sliding(s)
	case aggregate.Extreme:
		return w.extreme(s.Greatest()), nil
	}
	return nil, &eval.Unsupported{At: w.call.At, What: w.call.Func + " with OVER"}
}

// counts reports whether a row is part of the aggregate.
func (w *window) counts(r int32) bool {
	if w.filter != nil && (w.filter.IsNull(r) || !w.filter.Bools[r]) {
		return false
	}
	return len(w.args) == 0 || !w.args[0].IsNull(r)
}

// sliding is an aggregate of which rows can be removed. It adds the rows that enter the frame and removes those that leave it. Either
// end of a frame may also go back: a month after January 30, 23:00 is later than a month after January 31, 01:00. With DISTINCT, a value
// is added with its first row, and removed with its last.
func (w *window) sliding(s aggregate.Slider) (frameFold, error) {
	numbers, within, err := w.distinct()
	if err != nil {
		return nil, err
	}
	s.Grow(1)
	one := aggregate.Rows{Args: w.args}
	// rows returns the rows of some places that count, and for DISTINCT change the number of rows in the frame with their value from or to 0.
	rows := func(from, to, by int) *aggregate.Rows {
		one.Sel, one.Groups = one.Sel[:0], one.Groups[:0]
		for place := from; place < to; place++ {
			r := w.rows[place]
			if !w.counts(r) {
				continue
			}
			if within != nil {
				n := &within[numbers[place]]
				if *n += int32(by); by > 0 && *n > 1 || by < 0 && *n > 0 {
					continue
				}
			}
			one.Sel, one.Groups = append(one.Sel, r), append(one.Groups, 0)
		}
		return &one
	}
	a, b := 0, 0
	add := func(from, to int) (err error) {
		if from < to {
			_, err = s.Add(rows(from, to, 1))
		}
		return err
	}
	remove := func(from, to int) {
		if from < to {
			s.Remove(rows(from, to, -1))
		}
	}
	return func(row int32, start, end int) error {
		if start < end {
			if start >= b || end <= a {
				remove(a, b)
				a, b = start, start
			}
			if err := add(start, a); err != nil {
				return err
			}
			if err := add(b, end); err != nil {
				return err
			}
			remove(a, start)
			remove(end, b)
			a, b = start, end
			return s.Value(0, w.out, row)
		}
		if !w.of.Zero {
			w.out.SetNull(row)
		}
		return nil
	}, nil
}

// distinct numbers the values of the partition for DISTINCT. numbers has the number of each place's value; within counts the rows of the
// frame with each value, at first 0. Both are nil without DISTINCT.
func (w *window) distinct() (numbers, within []int32, err error) {
	if !w.call.Distinct {
		return nil, nil, nil
	}
	index := w.x.newIndex()
	defer index.release()
	numbers = make([]int32, len(w.rows))
	for i, r := range w.rows {
		if !w.counts(r) {
			continue
		}
		index.row(w.args, r)
		if numbers[i], _, err = index.id(); err != nil {
			return nil, nil, err
		}
	}
	return numbers, make([]int32, len(index.ids)), nil
}

// extreme is min and max. best has the places that may still become the answer; no place is better than one before it.
func (w *window) extreme(most bool) frameFold {
	v := w.args[0]
	var best []int
	a, b := 0, 0
	return func(row int32, start, end int) error {
		if start >= end {
			w.out.SetNull(row)
			return nil
		}
		if start >= b || start < a || end < b { // see sliding
			best, b = best[:0], start
		}
		a = start
		for ; b < end; b++ {
			r := w.rows[b]
			if !w.counts(r) {
				continue
			}
			for len(best) > 0 {
				if c := values.Compare(v, r, v, w.rows[best[len(best)-1]]); c == 0 || c > 0 != most {
					break
				}
				best = best[:len(best)-1]
			}
			best = append(best, b)
		}
		for len(best) > 0 && best[0] < start {
			best = best[1:]
		}
		if len(best) == 0 {
			w.out.SetNull(row)
			return nil
		}
		values.Copy(w.out, row, v, w.rows[best[0]])
		return nil
	}
}
