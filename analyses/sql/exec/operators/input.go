package operators

import (
	"encoding/binary"

	"posta.dev/posta/analyses/sql/aggregate"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/values"
)

// input computes the arguments of an aggregate and passes them to it. It drops rows that FILTER excludes, and duplicates if
// the aggregate is DISTINCT. If the aggregate has ORDER BY, input waits until all rows are there.
type input struct {
	x        *Executor
	expr     *plan.Aggregate
	args     []*eval.Program
	order    []*eval.Program
	filter   *eval.Program
	to       aggregate.State
	seen     *index // values that were seen, for DISTINCT
	waiting  *store // arguments and keys, for ORDER BY
	waitFor  []int32
	grown    int
	held     int64
	values   []*eval.Vector // values of the arguments, then of the keys
	passes   *eval.Vector   // value of FILTER
	sel, ids []int32
	narrow   []int32
}

func (x *Executor) newInput(a *plan.Aggregate, at plan.Layout) (in *input, err error) {
	of := aggregate.Find(a.Func)
	exprs := of.Arguments(a.Args)
	in = &input{x: x, expr: a, to: of.New(aggregate.Call{At: a.At, Type: a.T, Args: exprs})}
	if in.args, err = x.compileAll(exprs, at); err != nil {
		return nil, err
	}
	if a.Filter != nil {
		p, err := x.compile(a.Filter, at)
		if err != nil {
			return nil, err
		}
		in.filter = p
	}
	if a.Distinct || of.Distinct {
		in.seen = x.newIndex()
	}
	if len(a.Order) > 0 {
		fields := []plan.Field{}
		for _, e := range exprs {
			fields = append(fields, plan.Field{Type: e.Type()})
		}
		for _, o := range a.Order {
			p, err := x.compile(o.X, at)
			if err != nil {
				return nil, err
			}
			in.order = append(in.order, p)
			fields = append(fields, plan.Field{Type: o.X.Type()})
		}
		in.waiting = x.newStore(fields)
	}
	return in, nil
}

func (in *input) release() {
	if in.seen != nil {
		in.seen.release()
	}
	if in.waiting != nil {
		in.waiting.release()
	}
	in.x.held -= in.held
}

// eval computes arguments and keys for the rows of a batch that FILTER lets pass.
func (in *input) eval(b *Batch) error {
	part := *b
	if in.filter != nil {
		v, err := Compute(in.filter, b)
		if err != nil {
			return err
		}
		in.passes, in.narrow = v, Passing(in.narrow[:0], v, b.Sel)
		part.Sel = in.narrow
	}
	in.values = in.values[:0]
	for _, list := range [][]*eval.Program{in.args, in.order} {
		for _, p := range list {
			v, err := Compute(p, &part)
			if err != nil {
				return err
			}
			in.values = append(in.values, v)
		}
	}
	return nil
}

// add passes rows on. of has their groups; groups is the number of all groups.
func (in *input) add(sel, of []int32, groups int) error {
	if err := in.grow(groups); err != nil {
		return err
	}
	if in.filter != nil || in.seen != nil {
		in.sel, in.ids = in.sel[:0], in.ids[:0]
		for k, i := range sel {
			if in.filter != nil && (!in.passes.Bools[i] || in.passes.IsNull(i)) {
				continue
			}
			if in.seen != nil {
				in.seen.key = binary.BigEndian.AppendUint32(in.seen.key[:0], uint32(of[k]))
				for _, v := range in.values[:len(in.args)] {
					in.seen.key = values.Append(in.seen.key, v, i, true)
				}
				if _, fresh, err := in.seen.id(); err != nil {
					return err
				} else if !fresh {
					continue
				}
			}
			in.sel, in.ids = append(in.sel, i), append(in.ids, of[k])
		}
		sel, of = in.sel, in.ids
	}
	if in.waiting != nil {
		in.waitFor = append(in.waitFor, of...)
		in.held += 4 * int64(len(of))
		if err := in.x.hold(4 * int64(len(of))); err != nil {
			return err
		}
		return in.waiting.add(&Batch{Columns: in.values, Sel: sel})
	}
	return in.hold(in.to.Add(&aggregate.Rows{Args: in.values[:len(in.args)], Sel: sel, Groups: of}))
}

// hold counts the bytes that an aggregate keeps.
func (in *input) hold(bytes int64, err error) error {
	if err != nil {
		return err
	}
	in.held += bytes
	return in.x.hold(bytes)
}

func (in *input) grow(groups int) error {
	if groups <= in.grown {
		return nil
	}
	bytes := in.to.Grow(groups)
	in.grown = groups
	return in.hold(bytes, nil)
}

// result returns a value for each group.
func (in *input) result(groups int) (*eval.Vector, error) {
	if err := in.grow(groups); err != nil {
		return nil, err
	}
	if in.waiting != nil && in.waiting.n > 0 {
		if err := in.ordered(); err != nil {
			return nil, err
		}
	}
	return aggregate.Values(in.to, in.expr.T.Kind, groups)
}

// ordered passes on the waiting rows, in their order.
func (in *input) ordered() error {
	rows := make([]int32, in.waiting.n)
	for i := range rows {
		rows[i] = int32(i)
	}
	keys := make([]values.Key, len(in.order))
	for i, o := range in.expr.Order {
		keys[i] = values.Key{V: in.waiting.columns[len(in.args)+i], Desc: o.Desc, NullsFirst: o.NullsFirst}
	}
	values.Sort(rows, keys, in.x.pause)
	of := make([]int32, len(rows))
	for k, r := range rows {
		of[k] = in.waitFor[r]
	}
	return in.hold(in.to.Add(&aggregate.Rows{Args: in.waiting.columns[:len(in.args)], Sel: rows, Groups: of}))
}
