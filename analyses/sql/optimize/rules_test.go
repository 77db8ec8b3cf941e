package optimize

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/functions"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/sizes"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/test/sqlplan"
)

var update = flag.Bool("update", false, "rewrite the plans of testdata")

const mebibyte = 1 << 20

// catalogue has a small table, a larger one and a large one.
func catalogue() (tables []plan.Table, size map[string]int64) {
	number, text, double := types.Of(types.BigInt), types.Of(types.Text), types.Of(types.Double)
	field := func(name string, t types.Type) plan.Field { return plan.Field{Name: name, Type: t} }
	return []plan.Table{
			{Name: "nation", Fields: []plan.Field{field("nkey", number), field("name", text)}},
			{Name: "customer", Fields: []plan.Field{field("ckey", number), field("cnation", number), field("city", text)}},
			{Name: "orders", Fields: []plan.Field{field("okey", number), field("ocustomer", number), field("price", double),
				field("day", types.Of(types.Date)), field("tags", text)}},
		}, map[string]int64{
			"nation": 4 << 10, "customer": 8 * mebibyte, "orders": 900 * mebibyte}
}

// The golden test of each rule: a file has statements, each followed by its plan before and after the rule. go test -update writes the
// plans. A rule changes no plan that it is given, so the plan before is drawn after the rule has run.
func TestE2_Rules(t *testing.T) {
	for name, rule := range map[string]rule{
		"constants": func(roots []plan.Node, _ *sizes.Sizes, _ *plan.IDs) []plan.Node { return Constants(roots) },
		"pushdown":  func(roots []plan.Node, _ *sizes.Sizes, _ *plan.IDs) []plan.Node { return PushDown(roots) },
		"joins": func(roots []plan.Node, s *sizes.Sizes, _ *plan.IDs) []plan.Node {
			return Arrange(roots, s, 64*mebibyte)
		},
		"associate": func(roots []plan.Node, _ *sizes.Sizes, _ *plan.IDs) []plan.Node { return Associate(roots) },
		"keys": func(roots []plan.Node, s *sizes.Sizes, _ *plan.IDs) []plan.Node {
			return Keys(PushDown(roots), s, 64*mebibyte)
		},
		"unread":    func(roots []plan.Node, _ *sizes.Sizes, _ *plan.IDs) []plan.Node { return Unread(roots) },
		"semijoins": semiJoins,
		"early":     groupsEarly,
	} {
		t.Run(name, func(t *testing.T) {
			path := "testdata/" + name + ".txt"
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for _, part := range strings.Split(strings.TrimSpace(string(file)), "\n\n") {
				text, _, _ := strings.Cut(part, "\n----\n")
				out.WriteString(text + "\n----\n" + ruled(t, text, rule) + "\n\n")
			}
			got := strings.TrimSpace(out.String()) + "\n"
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(file) {
				t.Errorf("%s differs; the plans are now\n%s", path, got)
			}
		})
	}
}

// rule is a rule over whole plans.
type rule func([]plan.Node, *sizes.Sizes, *plan.IDs) []plan.Node

// semiJoins makes joins of all filters of which they can be made.
func semiJoins(roots []plan.Node, _ *sizes.Sizes, _ *plan.IDs) []plan.Node {
	return all(roots, plan.Rebuild(func(n plan.Node) plan.Node {
		if f, is := n.(*plan.Filter); is {
			if to := SemiJoin(f, func(n plan.Node) bool { return false }); to != nil {
				return to
			}
		}
		return n
	}))
}

// groupsEarly groups by all keys where joins have them.
func groupsEarly(roots []plan.Node, s *sizes.Sizes, ids *plan.IDs) []plan.Node {
	var reads func(n plan.Node) bool
	reads = func(n plan.Node) bool {
		_, joins := n.(*plan.Join)
		return !joins && !slices.ContainsFunc(plan.Inputs(n), func(in plan.Node) bool { return !reads(in) })
	}
	early := Early{Sizes: s, IDs: ids, Reads: reads, Groups: func(*plan.Aggregation) bool { return true }}
	return all(roots, plan.Rebuild(func(n plan.Node) plan.Node {
		if a, is := n.(*plan.Aggregation); is && len(a.Keys) > 0 {
			if to, _ := early.Group(a, a.Keys); to != nil {
				return to
			}
		}
		return n
	}))
}

func ruled(t *testing.T, text string, rule rule) string {
	t.Helper()
	script, err := syntax.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	tables, size := catalogue()
	program, err := bind.Bind(text, script, tables, nil)
	if err != nil {
		t.Fatal(err)
	}
	roots := []plan.Node{program.Statements[0].Plan}
	drawn := sqlplan.Render(roots[0])
	about := func(t *plan.Table) *sizes.Table { return &sizes.Table{Bytes: size[t.Name], Rows: size[t.Name] / 40} }
	after := rule(roots, sizes.Of(about, roots...), program.IDs)
	if again := sqlplan.Render(roots[0]); again != drawn {
		t.Errorf("%s: the rule has changed the plan that it was given:\n%s\nwas\n%s", text, again, drawn)
	}
	if err := plan.Check(functions.Declared, after[0]); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	made := sqlplan.Render(after[0])
	if made == drawn {
		return drawn + "\n-- stays"
	}
	return drawn + "\n-- becomes\n" + made
}
