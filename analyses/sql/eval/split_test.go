package eval_test

import (
	"fmt"
	"slices"
	"testing"

	. "posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// TestFunctionsOfSplitTexts: the length of string_split, and whether it has an item, are those of the list that it makes.
func TestFunctionsOfSplitTexts(t *testing.T) {
	columns := []*Vector{{Kind: types.Text, Nulls: []uint64{0, 0, 0}}, {Kind: types.Text, Nulls: []uint64{0, 0, 0}},
		{Kind: types.Text, Nulls: []uint64{0, 0, 0}}}
	for _, text := range []string{"", "a", "|", "a|b", "a||b", "|||", "ab|b|", "ü\xff|é", "aaa"} {
		for _, sep := range []string{"", "|", "||", "a", "é"} {
			for _, item := range []string{"", "a", "b", "ü", "\xff", "|b"} {
				columns[0].Texts = append(columns[0].Texts, text)
				columns[1].Texts = append(columns[1].Texts, sep)
				columns[2].Texts = append(columns[2].Texts, item)
			}
		}
	}
	n := len(columns[0].Texts)
	for i, v := range columns {
		v.Nulls, v.Any = make([]uint64, n/64+1), true
		v.Nulls[i] = 1 << (7 * i)
	}
	var args []plan.Expr
	for i := range columns {
		args = append(args, plan.Typed(&plan.Column{ID: plan.ColumnID(i + 1), Name: fmt.Sprint(i)}, types.Of(types.Text), 0))
	}
	run := func(e plan.Expr, columns []*Vector) *Vector {
		t.Helper()
		p, err := Compile(e, byNumber)
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.Run(columns, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	list := plan.Typed(&plan.Apply{Func: "string_split", Args: args[:2]}, types.Of(types.TextList), 0)
	lists := run(list, columns)
	// the same list, which is not known to be one of string_split
	made := plan.Typed(&plan.Column{ID: 4, Name: "list"}, types.Of(types.TextList), 0)
	for _, of := range []struct {
		name string
		args []plan.Expr
		kind types.Kind
	}{{"length", nil, types.BigInt}, {"list_contains", args[2:], types.Bool}} {
		call := func(list plan.Expr) plan.Expr {
			return plan.Typed(&plan.Apply{Func: of.name, Args: append([]plan.Expr{list}, of.args...)}, types.Of(of.kind), 0)
		}
		got, want := run(call(list), columns), run(call(made), append(slices.Clone(columns), lists))
		for i := range int32(n) {
			null := want.IsNull(i)
			if got.IsNull(i) != null || !null && (of.kind == types.Bool && got.Bools[i] != want.Bools[i] || of.kind == types.BigInt &&
				got.Ints[i] != want.Ints[i]) {
				t.Errorf("%s of %q, %q, %q differs", of.name, columns[0].Texts[i], columns[1].Texts[i], columns[2].Texts[i])
			}
		}
	}
}

// TestRepeatedTextsAreSplitOnce: rows that a join has made from one row share its text, which is split once for all of them.
// Different texts and separators are not confused, even if one begins where another does.
func TestRepeatedTextsAreSplitOnce(t *testing.T) {
	long := "a||b||c"
	texts := []string{long, long, long[:4], long, "a||b||c", "", "", long}
	separators := []string{"||", "||", "||", "|", "||", "||", "||", "||"}
	column := func(i int) plan.Expr {
		return plan.Typed(&plan.Column{ID: plan.ColumnID(i + 1), Name: fmt.Sprint(i)}, types.Of(types.Text), 0)
	}
	e := plan.Call(types.Of(types.TextList), 0, "string_split", column(0), column(1))
	p, err := Compile(e, byNumber)
	if err != nil {
		t.Fatal(err)
	}
	nulls := []uint64{1 << 3}
	v, err := p.Run([]*Vector{{Kind: types.Text, Texts: texts, Nulls: []uint64{0}},
		{Kind: types.Text, Texts: separators, Nulls: nulls, Any: true}}, len(texts), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"a", "b", "c"}, {"a", "b", "c"}, {"a", "b"}, nil, {"a", "b", "c"}, {""}, {""}, {"a", "b", "c"}}
	for i, w := range want {
		if w == nil != v.IsNull(int32(i)) || w != nil && !slices.Equal(v.Lists[i].Items, w) {
			t.Errorf("row %d: %q, NULL %t, want %q", i, v.Lists[i].Items, v.IsNull(int32(i)), w)
		}
	}
	if &v.Lists[0].Items[0] != &v.Lists[1].Items[0] {
		t.Error("a text that is repeated is split again")
	}
}
