package exec

import (
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/csv"
)

// conditions are those of a table with a column of TEXT and one of BIGINT.
type conditions struct {
	text, number *plan.Column
	all          Conditions
}

func newConditions() *conditions {
	text, number := plan.Field{ID: 1, Type: types.Of(types.Text)}, plan.Field{ID: 2, Type: types.Of(types.BigInt)}
	return &conditions{text: text.Ref(0), number: number.Ref(0)}
}

func (c *conditions) add(parts ...plan.Expr) (more bool) {
	var cond plan.Expr
	for _, p := range parts {
		cond = plan.And(cond, p)
	}
	return c.all.Add(cond, plan.Layout{1: 0, 2: 1}, func(int) bool { return true })
}

func call(name string, args ...plan.Expr) plan.Expr {
	return plan.Call(types.Of(types.Bool), 0, name, args...)
}

func text(s string) plan.Expr { return plan.Value(types.Of(types.Text), 0, s) }

func number(n int64) plan.Expr { return plan.Value(types.Of(types.BigInt), 0, n) }

// TestC1_TextsThatAreCutShortMayBeOthers: where both ends of some texts are equal, all texts are, unless the ends were cut.
func TestC1_TextsThatAreCutShortMayBeOthers(t *testing.T) {
	long := strings.Repeat("a", 16)
	c := newConditions()
	c.add(call("<>", c.text, text(long)))
	column := &catalog.Column{Name: "t", Type: types.Of(types.Text)}
	for _, cut := range []bool{false, true} {
		r := csv.Range{Kind: csv.KindBytes, Least: []byte(long), Most: []byte(long), Cut: cut, NoNulls: true}
		if may := c.all[0].may(column, &r); may != cut {
			t.Errorf("cut: %t, and another text is possible: %t", cut, may)
		}
	}
}

// TestC1_NULLPassesIfItPassesAllConditions of its column.
func TestC1_NULLPassesIfItPassesAllConditions(t *testing.T) {
	for _, nulls := range [][]bool{{true}, {false}, {true, true}, {true, false}, {false, true}, {false, false}} {
		c, want := newConditions(), true
		var parts []plan.Expr
		for _, passes := range nulls {
			one := call("IS NULL", c.number)
			if !passes {
				one = call(">", c.number, number(3))
			}
			parts, want = append(parts, one), want && passes
		}
		c.add(parts...)
		if c.all[1].null != want {
			t.Errorf("conditions that NULL passes %v: it passes all: %t", nulls, c.all[1].null)
		}
	}
}

// TestC1_NoConditionExcludesRowsThatFailBefore: only the conditions before the first that may fail are asked of single columns.
func TestC1_NoConditionExcludesRowsThatFailBefore(t *testing.T) {
	c := newConditions()
	fails := call("=", &plan.Cast{Base: plan.Base{T: types.Of(types.BigInt)}, X: c.text}, number(1))
	if more := c.add(call("<", c.number, number(9)), fails, call(">", c.text, text("a"))); more || len(c.all) != 1 || c.all[1] == nil {
		t.Errorf("further conditions are asked: %t; %d columns are", more, len(c.all))
	}
}
