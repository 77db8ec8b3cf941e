package split

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/types"
)

// TestConstantsAreComputedOnce: of each condition, the constants that remain.
func TestConstantsAreComputedOnce(t *testing.T) {
	table := catalog.Table{Name: "t", Files: "t.csv", Columns: []catalog.Column{{Name: "n", Type: types.Of(types.BigInt)},
		{Name: "p", Type: types.DecimalOf(15, 2)},
		{Name: "d", Type: types.Of(types.Date)}, {Name: "s", Type: types.Of(types.Text)}, {Name: "f", Type: types.Of(types.Double)}}}
	for text, want := range map[string]string{
		"n > 1 + 2 * 3":                                                      "n > 7",
		"p BETWEEN 0.06 - 0.01 AND 0.06 + 0.01":                              "p >= 5e-2 AND p <= 7e-2",
		"p * (1 - p) > 0":                                                    "p * (100e-2 - CAST p) > 0",
		"f < 1 / 8":                                                          "f < 0.125",
		"d >= DATE '1994-01-01' + INTERVAL '1' YEAR":                         "d >= 9131d",
		"d < DATE '1994-01-31' + INTERVAL '1' MONTH":                         "d < 8824d",
		"TIMESTAMP '1970-01-02 00:00:01' > d":                                "d <= 1d",
		"d > TIMESTAMP '1969-12-31 23:59:59'":                                "d > -1d",
		"d = TIMESTAMP '1970-01-02 00:00:00'":                                "d = 1d",
		"d = TIMESTAMP '1970-01-02 00:00:01'":                                "CAST d = 86401000000t",
		"d <> TIMESTAMP '1970-01-02 00:00:01'":                               "CAST d <> 86401000000t",
		"d < CAST(NULL AS TIMESTAMP)":                                        "CAST d < NULL",
		"d::TIMESTAMP + INTERVAL '1' HOUR > TIMESTAMP '1970-01-01 00:00:00'": "CAST d + {0 0 3600000000} > 0t",
		"INTERVAL '1' HOUR + d::TIMESTAMP IS NULL":                           "IS NULL({0 0 3600000000} + CAST d)",
		"n > 1 // 0":                                             "n > NULL",
		"n > 9223372036854775807 + 1":                            "n > 9223372036854775807 + 1",
		"n > length('abc')":                                      "n > 3",
		"n > length(repeat('x', 1000))":                          "n > length(repeat('x', 1000))", // texts are not computed
		"s = lower('A')":                                         "s = lower('A')",
		"n > CASE WHEN 1 < 2 THEN 5 ELSE 6 END":                  "n > 5",
		"n > (SELECT count(*) + (1 + 1) FROM (VALUES (1)) AS v)": "n > query of 2",
	} {
		s, err := (&Plan{Text: "SELECT count(*) FROM t WHERE " + text, Tables: []catalog.Table{table}}).statement()
		if err != nil {
			t.Fatal(text, err)
		}
		got := ""
		for n := s.roots[0].Plan; got == ""; n = plan.Inputs(n)[0] {
			if f, ok := n.(*plan.Filter); ok {
				got = drawn(f.Cond)
			}
		}
		if got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}

// drawn shows an expression in short: DECIMALs with an exponent, days with d, microseconds with t.
func drawn(e plan.Expr) string {
	switch e := e.(type) {
	case *plan.Column:
		return e.Name
	case *plan.Cast:
		return "CAST " + drawn(e.X)
	case *plan.Subquery:
		inner := ""
		for _, x := range plan.Exprs(e.Plan) {
			inner += drawn(x)
		}
		return "query of " + inner[strings.LastIndexByte(inner, ' ')+1:]
	case *plan.Const:
		switch v := fmt.Sprint(e.Value); {
		case e.Value == nil:
			return "NULL"
		case e.T.Kind == types.Text:
			return "'" + v + "'"
		case e.T.Kind == types.Decimal:
			return v + "e-" + exec.Itoa(int(e.T.Scale))
		case e.T.Kind == types.Date:
			return v + "d"
		case e.T.Kind == types.Timestamp:
			return v + "t"
		default:
			return v
		}
	case *plan.Apply:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			if args[i] = drawn(a); strings.Contains(args[i], " - ") && e.Func == "*" {
				args[i] = "(" + args[i] + ")"
			}
		}
		if len(args) != 2 || e.Func == "repeat" {
			return e.Func + "(" + strings.Join(args, ", ") + ")"
		}
		return args[0] + " " + e.Func + " " + args[1]
	}
	return "?"
}

// TestAConstantThatFailsFailsForRows: folding changes neither that a statement fails, nor that it does not fail without rows.
func TestAConstantThatFailsFailsForRows(t *testing.T) {
	table := catalog.Table{Name: "t", Files: "t.csv", Columns: []catalog.Column{{Name: "n", Type: types.Of(types.BigInt)}}}
	for _, c := range []struct{ text, data, want, fails string }{
		{"SELECT n FROM t WHERE n > 9223372036854775807 + 1", "n\n", "[]", ""},
		{"SELECT n FROM t WHERE n > 9223372036854775807 + 1", "n\n1\n", "", "BIGINT"},
		{"SELECT n + (9223372036854775807 + 1) AS m FROM t WHERE n > 1", "n\n1\n", "[]", ""},
		{"SELECT n + (9223372036854775807 + 1) AS m FROM t WHERE n > 0", "n\n1\n", "", "BIGINT"},
		{"SELECT CASE WHEN n > 0 THEN 1 ELSE 9223372036854775807 + 1 END AS m FROM t", "n\n1\n", "[[1]]", ""},
	} {
		got, err := answer(t, &Plan{Text: c.text, Tables: []catalog.Table{table}}, fstest.MapFS{"t.csv": {Data: []byte(c.data)}}, local.Options{})
		if got != c.want || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s over %q: %s, %v; want %s %s", c.text, c.data, got, err, c.want, c.fails)
		}
	}
}
