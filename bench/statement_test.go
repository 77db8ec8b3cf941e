package bench

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"posta.dev/posta/client/source/parquet/generated"
)

// TestBench_StatementsWithTheirTables: both programs get all queries of TPC-H, all statements of ClickBench and all questions
// of db-benchmark, and the types, which Parquet has itself.
func TestBench_StatementsWithTheirTables(t *testing.T) {
	for _, format := range generated.Formats() {
		c := Config{Source: "..", Format: format}
		tpch, err := c.readTPCH()
		clicks, err2 := c.clickBench()
		groups, err3 := numbered(h2o, c.declare("h2o"))
		if err := errors.Join(err, err2, err3); err != nil || len(tpch) != 22 || len(clicks) != 43 || len(groups) != 10 {
			t.Fatalf("%d, %d and %d statements, %v", len(tpch), len(clicks), len(groups), err)
		}
		for _, x := range []struct {
			s      statement
			tables int
			typed  string
		}{{tpch[0], 8, "'l_shipdate': 'DATE'"}, {clicks[0], 1, "'WatchID': 'BIGINT'"}, {groups[0], 1, "'v3': 'DOUBLE'"}} {
			declared := strings.Count(x.s.tables.ours, "CREATE TABLE")
			if strings.Count(x.s.tables.theirs, "CREATE VIEW") != x.tables ||
				strings.Contains(x.s.tables.theirs, x.typed) == (format == generated.Parquet) ||
				declared != 0 && format == generated.Parquet || declared != x.tables && format != generated.Parquet {
				t.Errorf("%s: %s\n%s", x.s.name, x.s.tables.ours, x.s.tables.theirs)
			}
		}
		if clicks[42].name != "43" || clicks[0].text != "SELECT COUNT(*) FROM hits;" {
			t.Errorf("%+v", clicks[0])
		}
	}
	_, err := (&Config{Source: t.TempDir()}).readTPCH()
	if err == nil || !strings.Contains(err.Error(), "run this in the folder that holds Posta") {
		t.Errorf("without the queries: %v", err)
	}
}

// TestOrderOf_FindsTheKeys: as expressions, aliases, ordinals and columns of *, or says that they are hidden.
func TestOrderOf_FindsTheKeys(t *testing.T) {
	columns := map[string][]string{"hits": {"A", "EventTime"}}
	for text, want := range map[string]struct {
		keys   int // how many
		first  int
		hidden bool
		shown  string
	}{
		"SELECT a, COUNT(*) FROM hits GROUP BY a ORDER BY COUNT(*) DESC LIMIT 10":        {keys: 1, first: 1},
		"SELECT a, COUNT(*) AS c FROM hits GROUP BY a ORDER BY c DESC, a LIMIT 10":       {keys: 2, first: 1},
		"SELECT a, COUNT(*) AS c FROM hits GROUP BY a ORDER BY 2 OFFSET 5":               {keys: 1, first: 1},
		"SELECT * FROM hits ORDER BY EventTime LIMIT 10":                                 {keys: 1, first: 1},
		"SELECT a FROM hits ORDER BY EventTime LIMIT 10":                                 {hidden: true, shown: "SELECT a, EventTime FROM"},
		"SELECT date_trunc('minute', t) AS m FROM hits ORDER BY DATE_TRUNC('minute', t)": {keys: 1},
		"SELECT count(*) FROM hits":                                                      {},
		"SELECT a FROM hits ORDER BY EventTime, a LIMIT 10":                              {keys: 1, hidden: true, shown: "SELECT a, EventTime"},
		"SELECT a FROM hits WHERE a IN (SELECT a FROM hits ORDER BY EventTime)":          {},
	} {
		o, shown, err := orderOf(text, columns)
		if err != nil || len(o.keys) != want.keys || want.keys > 0 && o.keys[0] != want.first || o.hidden != want.hidden ||
			!strings.Contains(strings.Join(strings.Fields(shown), " "), want.shown) {
			t.Errorf("%s: %+v, %q, %v", text, o, shown, err)
		}
	}
}

// TestOrder_TiesMayBeInAnyOrder: and may be cut by LIMIT and OFFSET, but keys and all other rows must be the same.
func TestOrder_TiesMayBeInAnyOrder(t *testing.T) {
	const theirs = `[["a", 9], ["b", 7], ["c", 7], ["d", 5], ["e", 5]]`
	ties := ordering{keys: []int{1}, limit: 5}
	whole := ordering{keys: []int{1}, limit: -1}
	offset := ordering{keys: []int{1}, limit: -1, offset: true}
	for _, x := range []struct {
		o    ordering
		ours string
		same bool
	}{
		{ties, theirs, true}, {whole, theirs, true},
		{ties, `[["a", 9], ["c", 7], ["b", 7], ["d", 5], ["x", 5]]`, true},
		{whole, `[["a", 9], ["c", 7], ["b", 7], ["d", 5], ["x", 5]]`, false},
		{ties, `[["a", 9], ["b", 7], ["b", 7], ["d", 5], ["e", 5]]`, false},
		{ties, `[["a", 9], ["b", 7], ["c", 6], ["d", 5], ["e", 5]]`, false},
		{ties, `[["a", 9], ["b", 7], ["c", 7], ["d", 5]]`, false},
		{ties, `[["x", 9], ["b", 7], ["c", 7], ["d", 5], ["e", 5]]`, false},
		{offset, `[["x", 9], ["c", 7], ["b", 7], ["d", 5], ["e", 5]]`, true},
		{offset, `[["a", 9], ["c", 7], ["x", 7], ["d", 5], ["e", 5]]`, false},
		{ordering{limit: 5}, `[["x", 1], ["x", 1], ["x", 1], ["x", 1], ["x", 1]]`, true},
		{ordering{limit: -1}, `[["e", 5], ["d", 5], ["a", 9], ["b", 7], ["c", 7]]`, true},
		{ordering{limit: -1}, `[["e", 5], ["d", 5], ["a", 9], ["b", 7], ["c", 8]]`, false},
	} {
		if err := x.o.same(json.RawMessage(x.ours), json.RawMessage(theirs)); errors.Is(err, errRows) == x.same || (err == nil) != x.same {
			t.Errorf("%+v, %s: %v", x.o, x.ours, err)
		}
	}
}

// TestBench_ValuesOfBothPrograms: DECIMALs, days and times of DuckDB's driver equal Posta's, and differences are reported.
func TestBench_ValuesOfBothPrograms(t *testing.T) {
	for _, x := range []struct {
		ours, theirs string
		same         bool
	}{
		{`"A", 1.5, null`, `"A", 1.5, null`, true},
		{`"A", 1.5, 0`, `"A", 1.5, null`, false},
		{`"A"`, `"A", 1.5`, false},
		{`1.5000000000001`, `1.5`, true},
		{`1.5001`, `1.5`, false},
		{`"123.45"`, `{"Width": 38, "Scale": 2, "Value": 12345}`, true},
		{`"123.46"`, `{"Width": 38, "Scale": 2, "Value": 12345}`, false},
		{`"x"`, `{"Width": 38, "Scale": 2, "Value": 12345}`, false},
		{`"1995-03-15"`, `"1995-03-15T00:00:00Z"`, true},
		{`"1995-03-15 00:00:00"`, `"1995-03-15T00:00:00Z"`, true},
		{`"1995-03-16"`, `"1995-03-15T00:00:00Z"`, false},
		{`"2013-07-14 00:01:00"`, `"2013-07-14T00:01:00Z"`, true},
		{`"2013-07-14 00:02:00"`, `"2013-07-14T00:01:00Z"`, false},
		{`435090932899640449`, `435090932899640449`, true},
		{`435090932899640450`, `435090932899640449`, false},
	} {
		o := ordering{limit: -1}
		err := o.same(json.RawMessage("[["+x.ours+"]]"), json.RawMessage("[["+x.theirs+"]]"))
		if errors.Is(err, errRows) == x.same || (err == nil) != x.same {
			t.Errorf("%s, %s: %v", x.ours, x.theirs, err)
		}
	}
}
