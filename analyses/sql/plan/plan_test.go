package plan

import (
	"errors"
	"testing"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// Rewriting keeps shared parts shared.
func TestE1_SharedPartsStayShared(t *testing.T) {
	var ids IDs
	f := ids.Field("a", types.Of(types.BigInt))
	c := f.Ref(7)
	if c.Type() != f.Type || c.Pos() != 7 {
		t.Error(c.Type(), c.Pos())
	}
	sum := Call(f.Type, 0, "+", c, c)
	other := ids.Field("b", f.Type)
	args := Children(Substitute(sum, map[ColumnID]Expr{f.ID: other.Ref(1)}))
	if args[0] != args[1] || args[0].(*Column).ID != other.ID || sum.Args[0] != Expr(c) {
		t.Error(args[0])
	}
}

// Check finds a column that is missing, one that is there twice, and one without a number, also in a query that is used as a value.
func TestE1_CheckFindsColumnsThatAreNotThere(t *testing.T) {
	var ids IDs
	number := types.Of(types.BigInt)
	table := &Table{Name: "t", Fields: []Field{{Name: "a", Type: number}}}
	scan := func() *Scan {
		return &Scan{Table: table, Used: []bool{true, true, true},
			Out: []Field{ids.Field("a", number), ids.Field("_file", types.Of(types.Text)), ids.Field("_line", number)}}
	}
	l, r := scan(), scan()
	join := NewJoin(syntax.Inner, l, r)
	join.Equal = [][2]Expr{{l.Out[0].Ref(0), r.Out[0].Ref(0)}}
	project := func(in Node, x Expr) *Project {
		return &Project{Input: in, Exprs: []Expr{x}, Out: []Field{ids.Field("x", number)}}
	}
	value := func(n Node) Expr { return &Subquery{Base: Base{T: number}, Plan: n} }
	half := NewJoin(syntax.Semi, l, r)
	for i, n := range []Node{join, project(join, r.Out[0].Ref(0)), half, project(l, value(project(r, r.Out[0].Ref(0))))} {
		if err := Check(types.Find, n); err != nil {
			t.Errorf("plan %d: %v", i, err)
		}
	}
	for i, n := range []Node{project(half, r.Out[0].Ref(0)), project(l, r.Out[0].Ref(0)), NewJoin(syntax.Inner, l, l),
		project(l, value(project(r, l.Out[0].Ref(0)))), &Scan{Table: table, Out: table.Fields}} {
		if err := Check(types.Find, n); !errors.Is(err, ErrColumns) {
			t.Errorf("wrong plan %d: %v", i, err)
		}
	}
	if s := join.Side(Call(number, 0, "+", l.Out[0].Ref(0), r.Out[0].Ref(0))); s != Both {
		t.Error(s)
	}
}

// A join whose sides keep their columns shares its own: a rule may make it anew thousands of times, and it may have thousands of columns.
func TestE1_JoinsShareTheirColumns(t *testing.T) {
	var ids IDs
	number := types.Of(types.BigInt)
	scan := func(columns int) *Scan {
		s := &Scan{Table: &Table{Name: "t"}}
		for range columns {
			s.Out = append(s.Out, ids.Field("a", number))
		}
		return s
	}
	l, r := scan(3), scan(2)
	j := NewJoin(syntax.Left, l, r)
	j.Rest = l.Out[0].Ref(0)
	same := j.With(&Filter{Input: l, Cond: j.Rest}, r)
	if &same.Fields()[0] != &j.Fields()[0] || same.Rest != j.Rest || same.L == j.L || j.L != Node(l) {
		t.Error("the columns are copied, or the join is another one")
	}
	other := j.With(scan(1), r)
	if len(other.Fields()) != 3 || other.Side(r.Out[1].Ref(0)) != Right || other.Side(other.L.Fields()[0].Ref(0)) != Left {
		t.Errorf("a join of other sides has %v", other.Fields())
	}
}
