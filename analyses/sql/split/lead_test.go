package split

import (
	"slices"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
)

// TestLeavesShareTheirFirstConditions: conditions with which several leaves of a session begin are computed once. A filter that may fail is
// left to the leaf's steps as a whole, and so are conditions behind it.
func TestLeavesShareTheirFirstConditions(t *testing.T) {
	files := fstest.MapFS{"t.csv": {Data: []byte("i,x,c,k\n1,0.5,a,1\n2,1.5,b,2\n")}}
	for _, c := range []struct {
		text       string
		conditions int
		led        []int // by leaf, by how many conditions it is led
	}{
		{"SELECT count(*) FROM t WHERE i > 1 AND x < 2; SELECT max(c) FROM t WHERE i > 1 AND x < 2; SELECT sum(k) FROM t WHERE i > 1 AND x < " +
			"2 AND k = 2", 3, []int{2, 2, 3}},
		{"SELECT count(*) FROM t WHERE i > 1 AND x < 2; SELECT max(c) FROM t WHERE x < 2 AND i > 1", 4, []int{2, 2}},
		{"SELECT count(*) FROM t WHERE k + 1 > 2 AND i > 1; SELECT max(c) FROM t WHERE i > 1", 1, []int{0, 1}},
		{"SELECT count(*) FROM t WHERE c <> '' AND upper(c) > 'A' AND i > 1; SELECT max(c) FROM t", 2, []int{2, 0}},
		{"SELECT i, x * x AS y FROM t WHERE y > 1 AND y < 9; SELECT max(c) FROM t", 1, []int{1, 0}},
	} {
		p := planOf(t, c.text, files)
		for i := range slices.Repeat([]int{1}, len(c.led)-1) {
			p.Also = append(p.Also, Part{Statement: i + 1})
		}
		s, err := p.statement()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.analysis(); err != nil {
			t.Fatal(err)
		}
		j, err := s.NewJoiner(analyses.Replica{Of: 1})
		if err != nil {
			t.Fatal(err)
		}
		var led []int
		for _, l := range s.Leaves {
			led = append(led, len(l.Leading))
		}
		if len(j.Conditions) != c.conditions || !slices.Equal(led, c.led) {
			t.Errorf("%s: %d conditions, of leaves %v, want %d of %v", c.text, len(j.Conditions), led, c.conditions, c.led)
		}
	}
}

// TestALeadingConditionIsComputedOncePerSlice: for rows that pass those before it, however many leaves ask.
func TestALeadingConditionIsComputedOncePerSlice(t *testing.T) {
	s, err := planOf(t, "SELECT count(*) FROM t WHERE i > 1 AND x < 2", fstest.MapFS{"t.csv": {Data: []byte("i,x\n1,0.5\n")}}).statement()
	if err != nil {
		t.Fatal(err)
	}
	s.Lead()
	conds := s.Leaves[0].Leading
	first := &exec.LedTo{By: compiled(t, s.Leaves[0], conds[0].Cond)}
	second := &exec.LedTo{Behind: first, By: compiled(t, s.Leaves[0], conds[1].Cond)}
	columns := []*eval.Vector{{Ints: []int64{1, 2, 3, 4}}, {Floats: []float64{1, 1, 9, 1}}}
	for slice := range uint64(3) {
		for range 2 {
			got, err := second.Passed(slice+1, columns, 4)
			if err != nil || !slices.Equal(got, []int32{1, 3}) || !slices.Equal(first.Sel, []int32{1, 2, 3}) {
				t.Fatalf("slice %d: %v of %v, %v", slice, got, first.Sel, err)
			}
		}
	}
	columns[0] = &eval.Vector{Ints: []int64{0, 0, 0, 0}}
	if got, err := second.Passed(3, columns, 4); err != nil || len(got) != 2 {
		t.Errorf("a slice is computed twice: %v, %v", got, err)
	}
	if got, err := second.Passed(4, columns, 4); err != nil || len(got) != 0 {
		t.Errorf("the next slice: %v, %v", got, err)
	}
}

func compiled(t *testing.T, l *exec.Leaf, e plan.Expr) *eval.Program {
	t.Helper()
	p, err := eval.Compile(e, plan.LayoutOf(l.From.Fields()))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
