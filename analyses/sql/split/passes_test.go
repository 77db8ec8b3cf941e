package split

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses"
	answers "posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/types"
)

// large makes the tables of a plan so large that passes are worth it.
func large(p *Plan) *Plan {
	for i := range p.Tables {
		p.Tables[i].Bytes, p.Tables[i].Rows = 1<<40, 1<<33
	}
	return p
}

// inPasses answers a plan pass by pass. Each pass is decoded from the bytes that a node would get.
func inPasses(t *testing.T, p *Plan, files fstest.MapFS, o local.Options) (rows string, passes int, err error) {
	t.Helper()
	for passes = 1; ; passes++ {
		pass := p.NextPass()
		if pass == nil {
			rows, err = answer(t, p, files, o)
			return rows, passes, err
		}
		text, err := answer(t, pass, files, o)
		if err != nil {
			return "", passes, err
		}
		var cells [][]string
		if err := json.Unmarshal([]byte(text), &cells); err != nil {
			t.Fatal(err)
		}
		var values []string
		for _, c := range cells {
			values = append(values, c[0])
		}
		if p, err = p.Answered(pass, values); err != nil {
			t.Fatal(err)
		}
		if passes > 20 {
			t.Fatal("there is no end of passes")
		}
	}
}

// TestQ7_PassesGiveWhatOnePassGives: a query over a large table is a pass if its answer lets joiners filter rows, and not
// otherwise.
func TestQ7_PassesGiveWhatOnePassGives(t *testing.T) {
	files := someTables(rand.New(rand.NewPCG(3, 9)))
	for _, c := range []struct {
		text   string
		passes int
	}{
		{"SELECT count(*), sum(tn) FROM t WHERE tn > (SELECT avg(tn) FROM t)", 2},
		{"SELECT tc, count(*) FROM t WHERE tx >= (SELECT max(tx) - 3 FROM t WHERE tc = 'a') GROUP BY tc", 2},
		{"SELECT tc, tn FROM t WHERE tk IN (SELECT tk FROM t GROUP BY tk HAVING count(*) > 4) ORDER BY tn, tc LIMIT 5", 2},
		{"SELECT tc, tn FROM t WHERE tk NOT IN (SELECT tk FROM t WHERE tk IS NOT NULL GROUP BY tk HAVING count(*) > 4)", 2},
		{"SELECT count(*) FROM t WHERE tk NOT IN (SELECT tk FROM t)", 2},
		{"SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM t WHERE tn > 20) AND tc IN (SELECT tc FROM t WHERE tx > 8)", 3},
		{"SELECT count(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM t WHERE tn > 2000)", 2},
		{"SELECT count(*) FROM t WHERE tn < (SELECT avg(tn) FROM t WHERE tx > (SELECT min(tx) + 1 FROM t))", 3},
		{"SELECT count(*) FROM t WHERE tn < (SELECT tn FROM t WHERE tn > 3000)", 2},
		{"SELECT count(*) FROM t WHERE tc >= (SELECT max(tc) FROM t) OR tc = ''", 2},
		{"WITH a AS (SELECT avg(tn) AS m FROM t) SELECT sum(tn), count(*) FROM t WHERE tn > (SELECT m FROM a) AND tn < (SELECT m + 5 FROM a)", 3},
		// Joiners do not ask queries within aggregates, so the rows travel.
		{"SELECT sum(CASE WHEN tn > (SELECT avg(tn) FROM t) THEN 1 ELSE 0 END) FROM (SELECT tn FROM t)", 1},
		// For groups the reducer has all it needs.
		{"SELECT tc, count(*) AS n FROM t GROUP BY tc HAVING count(*) > (SELECT count(*) / 5 FROM t) ORDER BY tc", 1},
		{"SELECT tc, count(*) AS n, (SELECT count(*) FROM t) AS all_rows FROM t GROUP BY tc ORDER BY tc", 1},
		{"SELECT tn, (SELECT max(tn) FROM t) AS m FROM t", 1},
		{"SELECT count(*) FROM t", 1},
	} {
		want, err := answer(t, planOf(t, c.text, files), files, local.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		for seed := range uint64(3) {
			got, passes, err := inPasses(t, large(planOf(t, c.text, files)), files,
				local.Options{Joiners: 1 + int(seed), Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 60})
			if err != nil || got != want || passes != c.passes {
				t.Errorf("%s\n   seed %d, %d passes: %s, %v\n   want %d: %s", c.text, seed, passes, got, err, c.passes, want)
				break
			}
		}
		told, err := Explain(large(planOf(t, c.text, files)))
		if want := fmt.Sprintf("%d passes\n", c.passes); err != nil || c.passes > 1 != strings.HasSuffix(told, want) {
			t.Errorf("%s is explained as\n%s%v", c.text, told, err)
		}
		if small(planOf(t, c.text, files), files).NextPass() != nil {
			t.Errorf("%s: small tables need no passes", c.text)
		}
	}
}

// TestPassesOfAllTypes: a value that is written into a plan is read as the same value.
func TestPassesOfAllTypes(t *testing.T) {
	files := fstest.MapFS{"v.csv": {Data: []byte("i,d,x,c,b,day,at\n" +
		"-9223372036854775808,0.1,1e308,\"ä\"\"b\",true,1969-12-31,2024-02-29 " +
		"23:59:59.999999\n7,-0.0,nan,,false,0001-01-01,\n,,-inf,\"\",,,1900-01-01 00:00:00\n" +
		"9223372036854775807,99.9,0.1,z,true,9999-12-31,2024-03-01 00:00:00\n")}}
	for _, column := range []string{"i", "d", "x", "c", "b", "day", "at", "d::DECIMAL(9,3)", "CAST(i AS TEXT)"} {
		for _, where := range []string{" IN (SELECT %s FROM v WHERE i > 0)", " NOT IN (SELECT %s FROM v WHERE i > 0)",
			" = (SELECT min(%s) FROM v)", " = (SELECT max(%s) FROM v)", " IN (SELECT %s FROM v)",
			" IS NOT DISTINCT FROM (SELECT %s FROM v WHERE i = 7)"} {
			text := "SELECT count(*), count(i), min(c) FROM v WHERE " + column + fmt.Sprintf(where, column)
			want, err := answer(t, planOf(t, text, files), files, local.Options{})
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if got, passes, err := inPasses(t, large(planOf(t, text, files)), files, local.Options{}); err != nil || got != want || passes != 2 {
				t.Errorf("%s: %d passes, %s, %v, want %s", text, passes, got, err, want)
			}
		}
	}
	text := "SELECT count(*) FROM v WHERE i > (SELECT i FROM v)"
	if _, _, err := inPasses(t, large(planOf(t, text, files)), files, local.Options{}); err == nil ||
		!strings.Contains(err.Error(), "more than one row") {
		t.Errorf("a query that has four rows: %v", err)
	}
}

// TestQ3_StatementsShareAScan: together, statements give the answers that each gives alone. A plan of statements that would affect each
// other is refused.
func TestQ3_StatementsShareAScan(t *testing.T) {
	files := someTables(rand.New(rand.NewPCG(4, 9)))
	for _, c := range []struct {
		texts []string
		apart string // why the statements do not share a scan
	}{
		{[]string{"SELECT count(*) FROM t", "SELECT tc, sum(tn), count(DISTINCT tk) FROM t GROUP BY tc ORDER BY 1",
			"SELECT tn FROM t ORDER BY tx DESC, tn LIMIT 3", "SELECT DISTINCT tc FROM t ORDER BY 1", "SELECT * FROM t WHERE tn > 20"}, ""},
		{[]string{"SELECT tc, uc, count(*) FROM t JOIN u ON tk = uk GROUP BY 1, 2 ORDER BY 1, 2",
			"SELECT sum(tn) FROM t WHERE tk NOT IN (SELECT vk FROM v WHERE vk > 2)",
			"SELECT tn, uc FROM t LEFT JOIN u ON tk = uk ORDER BY 1, 2 LIMIT 4"}, ""},
		{[]string{"SELECT count(*) FROM t WHERE tk > 1 AND tn < 40", "SELECT sum(tx) FROM t WHERE tk > 1 AND tn < 40 AND tc <> 'a'",
			"SELECT tc FROM t WHERE tk > 1 AND tn + 1 > 5 ORDER BY ALL",
			"SELECT tn FROM t JOIN u ON tk = uk WHERE tk > 1 AND tn < 40 ORDER BY ALL"}, ""},
		{[]string{"SELECT count(*) FROM t WHERE tn > 7", "SELECT avg(tx) FROM t WHERE tn > 7 AND tk < 5",
			"SELECT tc, median(tx) FROM t WHERE tc = 'a' GROUP BY tc"}, ""},
		{[]string{"SELECT a.tn, b.tn FROM t AS a JOIN t AS b ON a.tk = b.tk ORDER BY 1, 2 LIMIT 5", "SELECT count(*) FROM t"}, ""},
		{[]string{"SELECT count(*) FROM t JOIN u ON tk = uk", "SELECT count(*) FROM t, u"}, ""},
		{[]string{"SELECT count(*) FROM t JOIN u ON tk = uk", "SELECT count(*) FROM t", "SELECT count(*) FROM u"}, ""},
		{[]string{"SELECT count(*) FROM t JOIN u ON tk = uk", "SELECT count(*) FROM t", "SELECT count(*) FROM u JOIN v ON uk = vk"},
			"in another way"},
		{[]string{"SELECT count(*) FROM t", "SELECT count(*) FROM v"}, "only one of them reads"},
		{[]string{"SELECT count(*) FROM t", "SELECT tc FROM t LIMIT 3"}, "no more than it needs"},
	} {
		p := small(planOf(t, strings.Join(c.texts, ";\n"), files), files)
		for i := range c.texts[1:] {
			p.Also = append(p.Also, Part{Statement: i + 1})
		}
		a, err := Analysis(p)
		if c.apart != "" {
			if !errors.Is(err, ErrApart) || !strings.Contains(err.Error(), c.apart) {
				t.Errorf("%v share a scan: %v", c.texts, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.texts, err)
			continue
		}
		if err := a.Check(); err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(4) {
			got, err := local.Run(a, files, local.Options{Joiners: 1 + int(seed), Aggregators: 1 + int(seed), Seed: seed, ChunkBytes: 60})
			if err != nil {
				t.Fatalf("%v: %v", c.texts, err)
			}
			for i, text := range c.texts {
				want, err := answer(t, small(planOf(t, text, files), files), files, local.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if rows, err := json.Marshal(append([][]any{}, got.Queries[i].Rows...)); err != nil || string(rows) != want {
					t.Errorf("seed %d: %s\n   together %s, %v\n   alone    %s", seed, text, rows, err, want)
				}
			}
		}
	}
}

// TestQ3_RejectedRowsAreEachStatementsOwn: in a shared scan, each statement takes and rejects the same rows as alone. Rows are too short,
// hold values of a wrong type, or do not fulfil WHERE. Small tables have such rows, too.
func TestQ3_RejectedRowsAreEachStatementsOwn(t *testing.T) {
	sampled := fstest.MapFS{"t.csv": {Data: []byte("i,x,c,k\n1,0.5,a,1\n")}, "s.csv": {Data: []byte("k,v,w\n1,2,z\n")}}
	files := fstest.MapFS{
		"t.csv": {Data: []byte(
			"i,x,c,k\n1,0.5,a,1\n2,bad,b,2\n3,1.5,\"c\nd\"\nbad,2.5,d,4\n5,3.5,e,bad\n\n6,,f\n7,bad\nbad\n9,\"4.5\"x,g,1\n-1,worse,h,3\n8,9.5,i," +
				"2,more\n")},
		"s.csv": {Data: []byte("k,v,w\n1,10,one\n2,bad,two\n3,30\n2,20,again\nbad,40,four\n")},
	}
	counts := func(got *answers.Answer, statement string) (text string) {
		for _, r := range got.Rejected {
			if stream, of, apart := strings.Cut(r.Stream, " for "); r.Rows > 0 && (!apart || of == statement) {
				text += fmt.Sprintf("%s %+v\n", stream, r.Rejects)
			}
		}
		return text
	}
	for _, texts := range [][]string{
		{"SELECT sum(i), max(c) FROM t", "SELECT count(i) FROM t"},
		{"SELECT sum(i) FROM t", "SELECT sum(x) FROM t", "SELECT count(*) FROM t", "SELECT count(*), min(c) FROM t"},
		{"SELECT sum(i) FROM t WHERE x > 2", "SELECT sum(i), count(x) FROM t", "SELECT i, c FROM t WHERE i > 2 AND c < 'g'"},
		{"SELECT sum(i) FROM t WHERE i > 2", "SELECT max(i) FROM t WHERE i > 2"},
		{"SELECT sum(i) FROM t WHERE c > 'a' AND x > 1", "SELECT max(c) FROM t WHERE c > 'a'", "SELECT count(k) FROM t WHERE c > 'a' AND i < 9",
			"SELECT k FROM t WHERE c > 'a' AND x > 1"},
		{"SELECT sum(i), max(x) FROM t WHERE i > 2", "SELECT max(i), max(c) FROM t WHERE i > 2"},
		{"SELECT _line, c FROM t WHERE x IS NULL", "SELECT DISTINCT k FROM t", "SELECT i FROM t ORDER BY i DESC LIMIT 2",
			"SELECT _file, median(x) FROM t GROUP BY 1"},
		{"SELECT t.i, s.v FROM t JOIN s ON t.k = s.k", "SELECT t.i, s.w FROM t JOIN s ON t.k = s.k",
			"SELECT count(*) FROM t WHERE k NOT IN (SELECT k FROM s)"},
		{"SELECT sum(v) FROM s", "SELECT max(w) FROM s", "SELECT count(*) FROM t JOIN s ON t.k = s.k", "SELECT max(c) FROM t"},
		{"SELECT a.i, b.x FROM t AS a JOIN t AS b ON a.k = b.k", "SELECT c FROM t"},
	} {
		p := small(planOf(t, strings.Join(texts, ";"), sampled), sampled)
		for i := range p.Tables {
			if p.Tables[i].Name == "t" {
				p.Tables[i].Bytes = 1 << 30 // so that s is the small table, whatever is read of both
			}
		}
		for i := range texts[1:] {
			p.Also = append(p.Also, Part{Statement: i + 1})
		}
		together, err := Analysis(p)
		if err != nil {
			t.Errorf("%v: %v", texts, err)
			continue
		}
		for seed := range uint64(6) {
			o := local.Options{Joiners: 1 + int(seed%2), Aggregators: 1 + int(seed%3), Seed: seed, ChunkBytes: 20 + 30*int(seed)}
			got, err := local.Run(together, files, o)
			if err != nil {
				t.Errorf("%v: %v", texts, err)
				break
			}
			for i, text := range texts {
				alone, err := Analysis(p.Alone(i))
				if err != nil {
					t.Fatal(err)
				}
				want, err := local.Run(alone, files, o)
				if err != nil {
					t.Fatal(err)
				}
				if a, b := fmt.Sprint(got.Queries[i].Rows), fmt.Sprint(want.Queries[0].Rows); a != b {
					t.Errorf("seed %d: %s\n   together %s\n   alone    %s", seed, text, a, b)
				}
				if a, b := counts(got, got.Queries[i].Name), counts(want, ""); a != b || b == "" {
					t.Errorf("seed %d: %s rejects\n   together %s\n   alone    %s", seed, text, a, b)
				}
			}
		}
	}
}

// TestHeadIsKnown: Head finds the statements for which the first rows of a stream give the first rows of the answer, and no
// others.
func TestHeadIsKnown(t *testing.T) {
	files := someTables(rand.New(rand.NewPCG(5, 9)))
	for text, want := range map[string]string{
		"SELECT * FROM t LIMIT 10":                                    "t 10",
		"SELECT tn + 1 FROM t WHERE tk > 2 LIMIT 3 OFFSET 4":          "t 3",
		"SELECT tn, uc FROM t JOIN u ON tk = uk LIMIT 2":              "t 2",
		"FROM t SELECT upper(tc) LIMIT 1":                             "t 1",
		"SELECT * FROM t ORDER BY tn LIMIT 10":                        "",
		"SELECT * FROM (SELECT * FROM t LIMIT 10) WHERE tn > 3":       "",
		"SELECT tc, count(*) FROM t GROUP BY tc LIMIT 2":              "",
		"SELECT DISTINCT tc FROM t LIMIT 2":                           "",
		"SELECT tn FROM t WHERE tn > (SELECT avg(tn) FROM t) LIMIT 3": "",
		"SELECT * FROM t LIMIT 0":                                     "",
		"SELECT uc, tn FROM u JOIN t ON tk = uk LIMIT 2":              "", // the rows of u determine the order
		"SELECT count(*) FROM t LIMIT 1":                              "",
	} {
		p := small(planOf(t, text, files), files)
		got := ""
		if stream, rows, ok := p.Head(); ok {
			got = fmt.Sprint(stream, " ", rows)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if told, err := Explain(p); err != nil || strings.Contains(told, "stops reading t when the first") != (want != "") {
			t.Errorf("%s is explained as\n%s%v", text, told, err)
		}
	}
}

// TestTooManyRowsAreRefusedEarly: a join of two tables that are both too large, and windows over rows, are refused if too many rows would
// certainly travel to a process that keeps them.
func TestTooManyRowsAreRefusedEarly(t *testing.T) {
	files := someTables(rand.New(rand.NewPCG(6, 9)))
	for text, refused := range map[string]string{
		"SELECT tn, un FROM t JOIN u ON tk = uk": "t (about 512 million rows) and u (about 512 million rows) would " +
			"travel to one process, about 5120 MiB at least, and at most 1024 MiB do",
		"SELECT tn, un FROM t JOIN u ON tk = uk LIMIT 10":                "t (about 512 million rows) and u",
		"SELECT tn FROM t ORDER BY tn":                                   "",
		"SELECT sum(tn) OVER (ORDER BY tk) FROM t":                       "all rows of t (about 512 million rows)",
		"SELECT tn FROM t ORDER BY tn LIMIT 10":                          "",
		"SELECT tn, un FROM t JOIN u ON tk = uk WHERE tn = 1 AND un = 2": "",
		"SELECT tk, count(*) FROM t GROUP BY tk":                         "",
		"SELECT n, m FROM (SELECT tk, count(*) AS n FROM t GROUP BY tk) JOIN (SELECT uk, count(*) AS m FROM u GROUP BY uk) ON tk = uk": "",
		"SELECT count(*) FROM t WHERE tn > (SELECT avg(tn) FROM t)":                                                                    "",
	} {
		p := planOf(t, text, files)
		for i := range p.Tables {
			p.Tables[i].Bytes, p.Tables[i].Rows = 1<<35, 1<<29
		}
		if err := Check(p, nil); refused == "" && err != nil || refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestPlansSayWhatTheyAsk: in one line of bounded length, with the pass.
func TestPlansSayWhatTheyAsk(t *testing.T) {
	table := catalog.Table{Name: "t", Files: "t.csv", Columns: []catalog.Column{{Name: "a", Type: types.Of(types.BigInt)}}}
	long := "SELECT '" + strings.Repeat("ä", 2000) + "' AS x FROM t"
	for want, p := range map[string]*Plan{
		"SELECT a FROM t WHERE a > 1":                 {Text: "-- name: few\nSELECT a\n\tFROM t -- of all\nWHERE a > 1; SELECT 1"},
		"2 statements, first: SELECT count(*) FROM t": {Text: "SELECT count(*) FROM t; SELECT max(a) FROM t", Also: []Part{{Statement: 1}}},
		"SELECT max(a) FROM t":                        {Text: "SELECT count(*) FROM t; SELECT max(a) FROM t", Statement: 1},
		"SELECT 'ääää":                                {Text: long},
	} {
		p.Tables = []catalog.Table{table}
		a, err := Analysis(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) < len(a.Asks) && strings.HasPrefix(a.Asks, want) && strings.HasSuffix(a.Asks, "ä…") && len(a.Asks) <= analyses.MaxAsks &&
			utf8.ValidString(a.Asks) && p.Text == long {
			continue
		}
		if a.Asks != want {
			t.Errorf("%q, want %q", a.Asks, want)
		}
	}
	big := table
	big.Bytes, big.Rows = 1<<40, 1<<30
	p := &Plan{Text: "SELECT count(*) FROM t WHERE a > (SELECT avg(a) FROM t)", Tables: []catalog.Table{big}}
	pass := p.NextPass()
	if pass == nil {
		t.Fatal("one pass is enough")
	}
	a, err := Analysis(pass)
	if err != nil || !strings.HasPrefix(a.Asks, "pass 1, a query in WHERE, of: SELECT count(*) FROM t WHERE") {
		t.Errorf("%q, %v", a.Asks, err)
	}
	both := *pass
	both.Text += "; SELECT max(a) FROM t"
	both.Also = []Part{{Statement: 1}}
	if a, err := Analysis(&both); err != nil || !strings.HasPrefix(a.Asks,
		"2 statements, first: pass 1, a query in WHERE, of: SELECT count(*)") {
		t.Errorf("%q, %v", a.Asks, err)
	}
	secret := &Plan{Text: "SELECT a FROM t WHERE a > 41 AND 'x' = $p", Params: bind.Untyped(map[string]string{"p": "y"}),
		Tables: []catalog.Table{table}}
	if a, err := Analysis(secret); err != nil || a.Outline != "SELECT a FROM t WHERE a > ? AND ? = $p" {
		t.Errorf("%q, %v", a.Outline, err)
	}
	next, err := p.Answered(pass, []string{})
	if err != nil {
		t.Fatal(err)
	}
	if a, err = Analysis(next); err != nil || !strings.HasPrefix(a.Asks, "pass 2, the last one, of: SELECT") {
		t.Errorf("%q, %v", a.Asks, err)
	}
}
