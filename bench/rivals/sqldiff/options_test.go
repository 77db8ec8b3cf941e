package sqldiff

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client/source/text"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/test/corpus"
)

// otherCSV writes a file with comments, a preamble or no header, and the options with which both read it.
func otherCSV(r *rand.Rand) (file string, form csv.Form, nulls field.Nulls, options string) {
	var b strings.Builder
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	for form.LeaveOut.First = r.IntN(3); strings.Count(b.String(), "\n") < form.LeaveOut.First; {
		b.WriteString(pick("made by hand", "x,y", "", "a \"quote") + "\n")
	}
	options = fmt.Sprintf("skip = %d", form.LeaveOut.First)
	comments := r.IntN(2) == 0
	comment := func(s string) string {
		if !comments || r.IntN(3) > 0 {
			return ""
		}
		return s + "#" + pick("", " note", "a,b,c", "# #", "it's") + pick("", "", " ")
	}
	if comments {
		form.LeaveOut.Comment = '#'
		options += ", comment = '#'"
	}
	if nulls = [][]string{nil, {"NA"}, {"NA", ""}, {"-", "NULL"}}[r.IntN(4)]; nulls != nil {
		options += ", nullstr = ['" + strings.Join(nulls, "', '") + "']"
	}
	if form.Headless = r.IntN(2) == 0; form.Headless {
		form.Names = []string{"a", "b", "c"}
		options += ", header = false"
	} else {
		options += ", header = true"
		b.WriteString("a,b,c\n")
	}
	for n := 1 + r.IntN(6); n > 0; {
		if s := comment(pick("", "", "  ")); s != "" {
			b.WriteString(s + "\n")
			continue
		}
		n--
		for c := range 3 {
			b.WriteString([]string{"", ",", ","}[c])
			x := pick("x", "NA", "", "-", "NULL", "1", "y z", "é")
			if r.IntN(3) == 0 {
				x = `"` + pick(x, x, "", "#", "a\nb", `a""b`, "p,q") + `"`
			}
			b.WriteString(x)
		}
		b.WriteString(comment("") + "\n")
	}
	return b.String(), form, nulls, options
}

// Files that are not CSV with a header are read as DuckDB reads them.
func TestQ5_OptionsOfFilesAreReadAsDuckDBDoes(t *testing.T) {
	o, dir, compared := newOracle(t), t.TempDir(), 0
	for i := range uint64(*worlds) {
		r := rand.New(rand.NewPCG(*seed+i, 13))
		file, form, nulls, options := otherCSV(r)
		path := filepath.Join(dir, fmt.Sprintf("%d.csv", i))
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		rows, failed := o.Query("SELECT * FROM read_csv('" + path + "', " + options +
			`, auto_detect = false, delim = ',', quote = '"', escape = '"', allow_quoted_nulls = false, columns = {'a': 'TEXT', 'b': 'TEXT', 'c': 'TEXT'})`)
		if failed != nil {
			t.Logf("not compared: %q with %s: %v", file, options, failed)
			continue
		}
		table := catalog.Table{Name: "t", Files: "t.csv", Nulls: nulls}
		for _, name := range []string{"a", "b", "c"} {
			table.Columns = append(table.Columns, catalog.Column{Name: name, Type: types.Of(types.Text)})
		}
		plan := &split.Plan{Text: "SELECT a, b, c FROM t", Tables: []catalog.Table{table}}
		w := &World{Files: fstest.MapFS{"t.csv": &fstest.MapFile{Data: []byte(file)}}}
		got, err := corpus.ByNodes(plan, w.Files, local.Options{Joiners: 2, Seed: 1 + i, ChunkBytes: 1 + r.IntN(100),
			Cut: func(s *analyses.Stream, file io.Reader, chunkBytes, maxRecord int) (local.Cutter, error) {
				in, err := text.Open(file, text.Want{Given: ',', Form: form})
				if err != nil {
					return nil, err
				}
				cut := csv.NewCutter(in, in.Comma, chunkBytes, maxRecord)
				cut.StartAt(in.Line)
				return cut, nil
			}})
		if err != nil {
			t.Errorf("-seed %d: %q with %s: %v", *seed+i, file, options, err)
			continue
		}
		compared++
		if a, b := fmt.Sprintf("%q", got[0]), fmt.Sprintf("%q", rows); a != b && len(rows)+len(got[0]) > 0 {
			t.Errorf("-seed %d: %q with %s: %s, want %s", *seed+i, file, options, a, b)
		}
	}
	if compared < *worlds*3/4 {
		t.Errorf("only %d of %d files were compared", compared, *worlds)
	}
}
