package eval

import (
	"fmt"
	"slices"
	"testing"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/types"
)

// TestRepeatedTextsAreSplitOnce: rows that a join has made from one row share its text, which is split once for all of them.
// Different texts and separators are not confused, even if one begins where another does.
func TestRepeatedTextsAreSplitOnce(t *testing.T) {
	long := "a||b||c"
	texts := []string{long, long, long[:4], long, "a||b||c", "", "", long}
	separators := []string{"||", "||", "||", "|", "||", "||", "||", "||"}
	column := func(i int) bind.Expr {
		return bind.Typed(&bind.Column{Index: i, Name: fmt.Sprint(i)}, types.Of(types.Text), 0)
	}
	e := bind.Typed(&bind.Apply{Func: "string_split", Args: []bind.Expr{column(0), column(1)}}, types.Of(types.TextList), 0)
	p, err := Compile(e)
	if err != nil {
		t.Fatal(err)
	}
	nulls := []uint64{1 << 3}
	v, err := p.Run([]*Vector{{Kind: types.Text, Texts: texts, Nulls: []uint64{0}}, {Kind: types.Text, Texts: separators, Nulls: nulls, Any: true}}, len(texts), nil)
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
