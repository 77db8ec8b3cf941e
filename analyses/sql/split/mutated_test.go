package split

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/test/sqlplan"
)

// boundStatements are the plans of the statements of bind's tests.
func boundStatements(t testing.TB) (plans []*Plan) {
	t.Helper()
	file, err := os.ReadFile("../bind/testdata/plans.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range strings.Split(strings.TrimSpace(string(file)), "\n\n") {
		text, _, _ := strings.Cut(c, "\n----")
		p := planOf(t, text, fuzzTables)
		if i%2 == 0 {
			small(p, fuzzTables)
		}
		if program, err := p.Bind(); err == nil && program.Statements[0].Plan != nil {
			plans = append(plans, p)
		}
	}
	return plans
}

// TestQ1_PlansTravelAsTheyAre: a plan that has travelled has the same nodes and expressions, shared alike.
func TestQ1_PlansTravelAsTheyAre(t *testing.T) {
	for _, p := range boundStatements(t) {
		s, err := p.compiled()
		if err != nil {
			continue // it asks for no rows
		}
		got, err := p.Session()
		if err != nil {
			t.Fatalf("%s: %v", p.Text, err)
		}
		before, after := sqlplan.Render(s.Roots[0].Plan), sqlplan.Render(got.Roots[0].Plan)
		if before != after {
			t.Errorf("%s: the plan\n%s\nbecomes\n%s", p.Text, before, after)
		}
		if uses(s.Roots[0].Plan) != uses(got.Roots[0].Plan) {
			t.Errorf("%s: other parts are shared", p.Text)
		}
	}
}

// uses says how many nodes a plan has, and how many times all of them are read.
func uses(n plan.Node) (counts [2]int) {
	for _, n := range plan.Uses(n) {
		counts[0]++
		counts[1] += n
	}
	return counts
}

var mutations = flag.Int("mutations", 150, "how many mutations of each plan are tried")

// TestN7_NoMutatedPlanPanics: bytes that are nearly a plan are refused in words, or a node computes what they say.
func TestN7_NoMutatedPlanPanics(t *testing.T) {
	r, ran := rand.New(rand.NewPCG(14, 1)), 0
	for _, p := range boundStatements(t) {
		s, err := p.Session()
		if err != nil {
			continue
		}
		good := plan.Encode(s.tables, s.Roots[0].Plan)
		for range *mutations {
			b := slices.Clone(good)
			for range 1 + r.IntN(2) {
				switch at := r.IntN(len(b)); r.IntN(4) {
				case 0:
					b[at] = byte(r.Uint32())
				case 1:
					b[at] += byte(1 + r.IntN(3))
				case 2:
					b = slices.Delete(b, at, at+1)
				default:
					b = slices.Insert(b, at, byte(r.IntN(20)))
				}
				if len(b) == 0 {
					break
				}
			}
			ran += decodes(t, s, b)
		}
	}
	t.Logf("%d mutated plans were run", ran)
	if ran < 300 {
		t.Error("nearly all are refused")
	}
}

// FuzzDecode is TestN7_NoMutatedPlanPanics for what a fuzzer finds.
func FuzzDecode(f *testing.F) {
	plans := boundStatements(f)
	for i, p := range plans {
		if s, err := p.Session(); err == nil {
			f.Add(i, plan.Encode(s.tables, s.Roots[0].Plan))
		}
	}
	f.Fuzz(func(t *testing.T, i int, b []byte) {
		if i < 0 || i >= len(plans) {
			return
		}
		if s, err := plans[i].Session(); err == nil {
			decodes(t, s, b)
		}
	})
}

// decodes reads a plan of a session over the tables of the tests, and runs it. It returns 1 if it did.
func decodes(t *testing.T, s *Session, b []byte) (ran int) {
	to := *s
	to.Roots = slices.Clone(s.Roots)
	survives(t, s.Text, func() {
		if err := to.readPlans(false, b); err != nil {
			if err.Error() == "" {
				t.Error("a plan is refused without a word")
			}
			return
		}
		a, err := to.Analysis()
		if err != nil || a.Check() != nil {
			return
		}
		ran = 1
		_, _ = local.Run(a, fuzzTables, local.Options{Joiners: 2, Aggregators: 2, ChunkBytes: 40})
	})
	return ran
}
