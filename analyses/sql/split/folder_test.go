package split

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// folding folds each chunk twice: where it is parsed, and in a joiner.
type folding struct {
	a      *analyses.Analysis
	rows   *parse.FileParser
	folder analyses.Folder
}

func newFolding(t *testing.T, text string, tables ...catalog.Table) *folding {
	t.Helper()
	a, err := Analysis(&Plan{Text: text, Tables: tables})
	if err != nil {
		t.Fatal(text, err)
	}
	facts := len(a.Streams) - 1
	f := &folding{a: a}
	if f.folder, err = a.NewFolder(nil, facts); err != nil {
		t.Fatal(err)
	}
	var header []string
	for _, c := range tables[len(tables)-1].Columns {
		header = append(header, c.Name)
	}
	file := analyses.File{Name: "t.csv"}
	if f.rows, err = parse.NewFile(a, facts, nil, file, []byte(strings.Join(header, ","))); err != nil {
		t.Fatal(err)
	}
	return f
}

// chunk folds rows, and compares the tables with those of a joiner. It returns how many rows the tables have.
func (f *folding) chunk(t *testing.T, line uint64, rows string) (folded bool, size int) {
	t.Helper()
	facts, pos := len(f.a.Streams)-1, analyses.Position{File: analyses.File{Name: "t.csv"}, Line: line}
	if _, _, err := f.rows.Chunk([]byte(rows), line); err != nil {
		t.Fatal(err)
	}
	tables, folded := f.folder.Fold(f.rows.Builder(), pos)
	if !folded {
		return false, 0
	}
	j, err := f.a.NewJoiner(nil, analyses.Replica{Of: 1})
	if err != nil {
		t.Fatal(err)
	}
	b, err := batch.Decode(f.rows.Builder().Append(nil), f.a.Streams[facts].Schema)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Facts(facts, b, pos); err != nil {
		t.Fatal(err)
	}
	var want []*fold.Table
	for i := range f.a.Tables {
		want = append(want, fold.NewOutgoing(&f.a.Tables[i]))
	}
	if err := j.Flush(want); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if got := tables[i].AppendRows(nil, tables[i].Sorted(nil)); !slices.Equal(got, w.AppendRows(nil, w.Sorted(nil))) {
			t.Errorf("table %d of the chunk at line %d has %d rows that differ from a joiner's %d", i, line, tables[i].Len(), w.Len())
		}
		size += w.Len()
	}
	return true, size
}

// lines returns some rows of a table, without its header.
func lines(t *testing.T, r *rand.Rand, n int) (catalog.Table, string) {
	t.Helper()
	table, files := oddTable(r, n)
	_, rows, _ := strings.Cut(string(files["t.csv"].Data), "\n")
	return table, rows
}

// TestQ7_ParsersFoldWhatJoinersWould: a folder makes the same of a chunk as a joiner does once the rows have travelled. The chunks have few
// rows, or more than go through the kernels at once.
func TestQ7_ParsersFoldWhatJoinersWould(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for _, text := range []string{
		"SELECT count(*) FROM t",
		"SELECT word, flag, count(*), sum(f), avg(d), min(d), max(big), min(word), first(day), last(many), max_by(many, price) FROM t GROUP " +
			"BY 1, 2",
		"SELECT upper(left(many, 2)), _file, sum(price) FILTER (WHERE flag), count(DISTINCT word), sum(DISTINCT small) FROM t WHERE small >= " +
			"0 AND word LIKE '%e%' GROUP BY 1, 2",
		"SELECT DISTINCT word, small FROM t",
		"SELECT word, d, _line FROM t WHERE drift > 3 ORDER BY d DESC, _line LIMIT 7",
		"SELECT small, count(*) FROM t GROUP BY 1 UNION ALL SELECT 1, sum(small) FROM t WHERE flag",
		"SELECT u, count(*) FROM t, UNNEST(string_split(many, '1')) AS x(u) GROUP BY 1",
	} {
		table, _ := lines(t, r, 1)
		f := newFolding(t, text, table)
		if f.folder == nil {
			t.Errorf("%s: rows travel", text)
			continue
		}
		line := uint64(2)
		for _, n := range []int{1, 5000, 40, 2048, 2049} {
			_, rows := lines(t, r, n)
			if folded, _ := f.chunk(t, line, rows); !folded {
				t.Errorf("%s: %d rows are not folded", text, n)
			}
			line += uint64(n)
		}
	}
}

// TestQ7_RowsTravelWhereTheyHaveTo: a joiner gets the rows that need other rows, those joined with rows in the plan, and those
// that no table folds.
func TestQ7_RowsTravelWhereTheyHaveTo(t *testing.T) {
	table, _ := lines(t, rand.New(rand.NewPCG(1, 5)), 1)
	few := catalog.Table{Name: "few", Files: "few.csv", Bytes: 10, Columns: []catalog.Column{{Name: "w", Type: types.Of(types.Text)}}}
	for _, text := range []string{
		"SELECT word, small FROM t",
		"SELECT word, count(*) FROM t JOIN few ON word = w GROUP BY 1",
		"SELECT word, count(*) FROM t WHERE word IN (SELECT w FROM few) GROUP BY 1",
		"SELECT word, count(*) FROM t JOIN (VALUES ('a'), ('b')) AS v(x) ON word = x GROUP BY 1",
	} {
		if f := newFolding(t, text, few, table); f.folder != nil {
			t.Errorf("%s: parsers fold", text)
		}
	}
}

// TestQ7_RowsOfManyGroupsTravel: rows with hardly fewer groups are passed on unfolded. After each such chunk, more chunks are not even
// tried. What an abandoned fold has left is in no later one.
func TestQ7_RowsOfManyGroupsTravel(t *testing.T) {
	table := catalog.Table{Name: "t", Files: "t.csv", Columns: []catalog.Column{{Name: "k", Type: types.Of(types.BigInt)},
		{Name: "x", Type: types.Of(types.Double)}}}
	rows := func(n, groups int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d,%d.5\n", i%groups, i)
		}
		return b.String()
	}
	for _, text := range []string{
		"SELECT k, sum(x), count(*) FROM t GROUP BY k",
		"SELECT count(DISTINCT k), sum(x) FROM t",
		"SELECT DISTINCT k FROM t",
	} {
		f := newFolding(t, text, table)
		if folded, _ := f.chunk(t, 2, rows(exec.SurelyMany-1, exec.SurelyMany)); !folded {
			t.Errorf("%s: few rows are not folded", text)
		}
		var tried []int
		for i := range 30 {
			f.folder.(*exec.Folder).J = nil // a new joiner shows that folding was tried
			if folded, _ := f.chunk(t, 2, rows(exec.SurelyMany, exec.SurelyMany)); folded {
				t.Fatalf("%s: many groups are folded", text)
			}
			if f.folder.(*exec.Folder).Rest == f.folder.(*exec.Folder).Next/2 {
				tried = append(tried, i)
			}
		}
		if want := []int{0, 2, 5, 10, 19}; !slices.Equal(tried, want) {
			t.Errorf("%s: chunks %v were tried, not %v", text, tried, want)
		}
		for f.folder.(*exec.Folder).Rest > 0 {
			f.chunk(t, 2, rows(10, 10))
		}
		if folded, size := f.chunk(t, 2, rows(exec.SurelyMany-1, 5)); !folded || size > 6 {
			t.Errorf("%s: few groups are not folded, or %d", text, size)
		}
	}
}

// TestQ7_RowsThatFailTravel: the joiner finds the error, so that it has one form. Chunks after it are folded.
func TestQ7_RowsThatFailTravel(t *testing.T) {
	table := catalog.Table{Name: "t", Files: "t.csv", Columns: []catalog.Column{{Name: "k", Type: types.Of(types.BigInt)}}}
	f := newFolding(t, "SELECT sum(ln(k)) FROM t", table)
	for i, rows := range []string{"1\n2\n", "1\n0\n", "3\n4\n5\n"} {
		if folded, _ := f.chunk(t, 2, rows); folded != (i != 1) {
			t.Errorf("chunk %d: folded is %v", i, folded)
		}
	}
}

// TestN9_RowsThatNeedLongWorkTravel: an input serves nobody while it folds a chunk, so rows whose functions work long travel to a joiner,
// which computes them in slices. A few such rows are folded.
func TestN9_RowsThatNeedLongWorkTravel(t *testing.T) {
	table := catalog.Table{Name: "t", Files: "t.csv", Columns: []catalog.Column{{Name: "k", Type: types.Of(types.BigInt)},
		{Name: "x", Type: types.Of(types.Text)}}}
	for _, text := range []string{
		"SELECT max(length(string_split(repeat('a ', 2000000), ' '))) FROM t",
		"SELECT count(*) FROM t WHERE length(repeat('a ', 2000000) || x) < 5",
		"SELECT max(length(lpad(x, 3000000, 'ab'))) FROM t",
		"SELECT max(length(replace(repeat(x, 10000), 'x', repeat('y', 300)))) FROM t",
		"SELECT count(*) FROM t WHERE regexp_matches(repeat('a', 20000) || x, '(a?){50}b')",
		"SELECT max(upper(repeat(x, 1000000))) FROM t",
		"SELECT count(DISTINCT repeat(x, 1000000)) FROM t",
		"SELECT count(u) FROM t, UNNEST(string_split(repeat('a,', 400000), ',')) AS r(u)",
	} {
		f := newFolding(t, text, table)
		if f.folder == nil {
			t.Errorf("%s: rows travel without a try", text)
			continue
		}
		if folded, _ := f.chunk(t, 2, "1,x\n"); !folded {
			t.Errorf("%s: a single row is not folded", text)
		}
		var b strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&b, "%d,x%d\n", i, i)
		}
		if folded, _ := f.chunk(t, 3, b.String()); folded {
			t.Errorf("%s: an input works long", text)
		}
		if f.folder.(*exec.Folder).Rest == 0 {
			t.Errorf("%s: an input tries again at once", text)
		}
	}
}
