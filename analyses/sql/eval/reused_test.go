package eval

import (
	"testing"
	"unsafe"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// TestPatternsOfRowsThatAreGone: what was made of the pattern, the replacement or the format of a row is not taken for that of another row,
// whose text is in the same memory.
func TestPatternsOfRowsThatAreGone(t *testing.T) {
	text := func(id plan.ColumnID) plan.Expr {
		return &plan.Column{Base: plan.Base{T: types.Of(types.Text)}, ID: id}
	}
	for name, c := range map[string]struct {
		f           *plan.Apply
		first, then [3]string
		want        string
	}{
		"pattern": {&plan.Apply{Func: "regexp_extract", Args: []plan.Expr{text(0), text(1)}},
			[3]string{"abc", "a", ""}, [3]string{"abc", "b", ""}, "b"},
		"replacement": {&plan.Apply{Func: "regexp_replace", Args: []plan.Expr{text(0), text(1), text(2)}},
			[3]string{"abc", "a", "x"}, [3]string{"abc", "a", "y"}, "ybc"},
	} {
		c.f.T = types.Of(types.Text)
		p, err := Compile(c.f, plan.Layout{0: 0, 1: 1, 2: 2})
		if err != nil {
			t.Fatal(name, err)
		}
		memory, columns := [3][]byte{}, []*Vector{}
		for k, s := range c.first {
			memory[k] = []byte(s)
			v := NewVector(types.Text, 1)
			v.Texts[0] = unsafe.String(unsafe.SliceData(memory[k]), len(s))
			columns = append(columns, v)
		}
		if _, err := p.Run(columns, 1, nil); err != nil {
			t.Fatal(name, err)
		}
		for k, s := range c.then {
			copy(memory[k], s)
		}
		if v, err := p.Run(columns, 1, nil); err != nil || v.Texts[0] != c.want {
			t.Errorf("%s: %v, %v, and not %q", name, v.Texts, err, c.want)
		}
	}
}
