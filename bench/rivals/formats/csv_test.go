package formats

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/client/source/text"
	"posta.dev/posta/rows/csv"
)

// dirt are fields as files from elsewhere have them: with blanks, with quotes in the wrong places, with nothing.
var dirt = []string{
	"1", "x", "", " ", " y ", `""`, `" "`, `"q"`, `"a,b"`, `"a""b"`, "\"a\nb\"", `""""`, `a"b`, `a"`, `"a`, `"a"b`, `"a" `, ` "a"`, `"a""`,
	"NULL", "\t", `\"`, `"\""`, "é",
}

// The differences that are meant, which docs/data.md has. DuckDB takes blanks beside a quote for nothing: here a field with blanks in front
// of its quote is a plain text, and one with blanks behind its quote is rejected. If a quoted field does not end as it should, DuckDB drops
// rows behind it: here only that field's lines are lost.
var (
	blankBesideQuote = regexp.MustCompile(`(^|,)[ \t]+"|"[ \t]+(,|$)`)
	soundRow         = regexp.MustCompile(`^(("([^"]|"")*"|[^",\n][^,\n]*|),)*("([^"]|"")*"|[^",\n][^,\n]*|)$`)
)

// TestCSV_DirtyRowsAsDuckDBReadsThem: a row of dirty fields, between sound rows, in files with any line ends and with or without byte order
// marks, is the same row, or is rejected, in both. So are the sound rows.
func TestCSV_DirtyRowsAsDuckDBReadsThem(t *testing.T) {
	db := open(t)
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 28))
	var rows []string
	for _, a := range dirt {
		rows = append(rows, a)
		for _, b := range dirt {
			rows = append(rows, a+","+b)
		}
	}
	for range 200 {
		n := 3 + random.IntN(2)
		var fields []string
		for range n {
			fields = append(fields, dirt[random.IntN(len(dirt))])
		}
		rows = append(rows, strings.Join(fields, ","))
	}
	same, meant := 0, map[string]int{}
	for i, row := range rows {
		for columns := 1; columns <= 2; columns++ {
			sound := "8,9\n"
			head := "a,b\n"
			if columns == 1 {
				sound, head = "8\n", "a\n"
			}
			content := head + sound + row + "\n" + strings.Repeat(sound, 2)
			switch i % 5 {
			case 1:
				content = strings.ReplaceAll(content, "\n", "\r\n")
			case 2:
				content = "\ufeff" + content
			case 3:
				content = strings.TrimSuffix(content, "\n")
			case 4:
				content = strings.ReplaceAll(content, "\n", "\r")
			}
			got, want := ourCSV(t, content, columns), duckCSV(t, db, filepath.Join(dir, "t.csv"), content, columns)
			if slices.Equal(got, want) {
				same++
				continue
			}
			switch {
			case blankBesideQuote.MatchString(row):
				meant["blanks beside a quote"]++
			case !soundRow.MatchString(row) && within(want, got):
				meant["rows behind a misplaced quote"]++
			default:
				t.Errorf("%q: %q; DuckDB: %q", content, got, want)
			}
		}
	}
	t.Logf("%d files are read alike; differences that are meant: %v", same, meant)
}

// within reports whether all rows are among others, in their order.
func within(rows, others []string) bool {
	for _, o := range others {
		if len(rows) > 0 && rows[0] == o {
			rows = rows[1:]
		}
	}
	return len(rows) == 0
}

// ourCSV returns the rows of a file, NULL as ∅.
func ourCSV(t *testing.T, content string, columns int) (rows []string) {
	t.Helper()
	in, err := text.Open(strings.NewReader(content), text.Want{Given: ','})
	if err != nil {
		t.Fatal(err)
	}
	cut := csv.NewCutter(in, ',', 1<<20, 1<<20)
	header, err := cut.Header()
	if err != nil {
		t.Fatal(err)
	}
	h, err := csv.ParseHeader(header, ',')
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Find([]csv.Column{{Name: "a"}, {Name: "b"}}[:columns])
	if err != nil {
		t.Fatal(err)
	}
	for {
		chunk, line, err := cut.Next(nil)
		if errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		var s csv.Scanner
		for s.Reset(bytes.Clone(chunk), ',', m, line); s.Next(); {
			if s.Err() != nil {
				continue
			}
			var cells []string
			for i, p := range s.Fields() {
				if field.IsNull(p, s.Quoted().Has(i)) {
					cells = append(cells, "∅")
				} else {
					cells = append(cells, string(p))
				}
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
	}
}

func duckCSV(t *testing.T, db *sql.DB, name, content string, columns int) (rows []string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	types, names := `{'a': 'VARCHAR', 'b': 'VARCHAR'}`, `coalesce(a, '∅') || '|' || coalesce(b, '∅')`
	if columns == 1 {
		types, names = `{'a': 'VARCHAR'}`, `coalesce(a, '∅')`
	}
	found, err := db.Query("SELECT " + names + " FROM read_csv('" + name + "', auto_detect = false, header = true, delim = ',', quote = " +
		"'\"', escape = '\"', allow_quoted_nulls = false, ignore_errors = true, columns = " + types + ")")
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	defer func() { _ = found.Close() }() // read only
	for found.Next() {
		var s string
		if err := found.Scan(&s); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, s)
	}
	if err := found.Err(); err != nil {
		return []string{"error: " + err.Error()}
	}
	return rows
}
