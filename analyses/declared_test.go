package analyses

import (
	"errors"
	"strings"
	"testing"

	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// TestQ1_AnAnalysisComesWithItsSession: a plan makes an analysis. Anything else is refused in words, even if the compiler panics.
func TestQ1_AnAnalysisComesWithItsSession(t *testing.T) {
	whole := Analysis{Name: "asked", Streams: []Stream{{Name: "s", Files: "s.csv", Columns: Columns("a"),
		Schema: []batch.FieldSpec{{Name: "a", Kind: batch.Int}}}},
		NewJoiner: func(Args, Replica) (Joiner, error) { return nil, nil },
		Reduce:    func(Args, int, []*fold.Table, func(...any)) error { return nil }}
	asked := &Analysis{Name: "asked"}
	asked.Compile = func(plan []byte) (*Analysis, error) {
		a := whole
		switch string(plan) {
		case "good":
		case "half":
			a.Streams[0].Files = ""
		case "panic":
			panic("bad luck")
		default:
			return nil, errors.New("no such plan")
		}
		return &a, nil
	}
	set := Set{asked, &Analysis{Name: "fixed", NewJoiner: whole.NewJoiner, Reduce: whole.Reduce}}
	if err := set.Check(); err != nil {
		t.Fatal(err)
	}
	if a, err := set.Open("asked", []byte("good")); err != nil || len(a.Streams) != 1 {
		t.Errorf("a good plan: %v", err)
	}
	if _, err := set.Open("fixed", nil); err != nil {
		t.Errorf("a built-in analysis: %v", err)
	}
	for plan, say := range map[string]string{"": "needs one", "bad": "no such plan", "panic": "bad luck", "half": "needs a name"} {
		if _, err := set.Open("asked", []byte(plan)); !errors.Is(err, ErrBadPlan) || !strings.Contains(err.Error(), say) {
			t.Errorf("plan %q: %v", plan, err)
		}
	}
	if _, err := set.Open("fixed", []byte("good")); !errors.Is(err, ErrBadPlan) {
		t.Errorf("a plan for a built-in analysis: %v", err)
	}
	if _, err := set.Open("unknown", nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown analysis: %v", err)
	}
	if b := set.BuiltIn(); len(b) != 1 || b[0].Name != "fixed" {
		t.Errorf("%d are built in", len(b))
	}
}
