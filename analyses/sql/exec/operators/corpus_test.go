package operators_test

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/scratch"
	"posta.dev/posta/test/corpus"
)

const root = "../../testdata/corpus"

// statement is one of the corpus, and the tables that it reads.
type statement struct {
	corpus.Record
	tables []plan.Table
	rows   map[string]*operators.Batch
}

// statements returns those of the corpus that read tables.
var statements = sync.OnceValues(func() (all []statement, err error) {
	files, err := fs.Glob(os.DirFS(root), "*.txt")
	if err != nil {
		return nil, err
	}
	worlds := map[string]*statement{}
	for _, file := range files {
		text, err := os.ReadFile(path.Join(root, file))
		if err != nil {
			return nil, err
		}
		records, err := corpus.Parse(string(text))
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if r.Refused || r.Tables == "-" {
				continue
			}
			w := worlds[r.Tables]
			if w == nil {
				if w, err = world(r.Tables); err != nil {
					return nil, err
				}
				worlds[r.Tables] = w
			}
			all = append(all, statement{r, w.tables, w.rows})
		}
	}
	return all, nil
})

// world reads the tables of a folder.
func world(folder string) (*statement, error) {
	text, err := os.ReadFile(path.Join(root, folder, "tables.sql"))
	if err != nil {
		return nil, err
	}
	declared, err := corpus.Declared(string(text))
	if err != nil {
		return nil, err
	}
	w := &statement{rows: map[string]*operators.Batch{}}
	for _, of := range declared {
		p := &split.Plan{Text: "SELECT *, _file, _line FROM " + of.Name + " ORDER BY _line", Tables: []catalog.Table{of}}
		cells, fields, err := corpus.Answer(p, os.DirFS(path.Join(root, folder)), local.Options{})
		if err != nil {
			return nil, err
		}
		rows := &operators.Batch{N: len(cells)}
		for c, f := range fields {
			v := eval.NewVector(f.Type.Kind, len(cells))
			for i, row := range cells {
				set(v, int32(i), f.Type, row[c])
			}
			rows.Columns = append(rows.Columns, v)
		}
		w.tables, w.rows[of.Name] = append(w.tables, plan.Table{Name: of.Name, Fields: fields[:len(fields)-2]}), rows
	}
	return w, nil
}

// set sets a value to a cell of an answer.
func set(v *eval.Vector, row int32, t types.Type, cell any) {
	switch x := cell.(type) {
	case nil:
		v.SetNull(row)
	case int64:
		v.Ints[row] = x
	case float64:
		v.Floats[row] = x
	case bool:
		v.Bools[row] = x
	case string:
		switch t.Kind {
		case types.Date:
			v.Ints[row], _ = field.Date([]byte(x))
		case types.Timestamp:
			v.Ints[row], _ = field.Timestamp([]byte(x))
		case types.Decimal:
			v.Ints[row], _ = field.Decimal([]byte(x), t)
		default:
			v.Texts[row] = x
		}
	}
}

// FuzzE15_StatementsInFiles: each statement of the corpus has the answer of the corpus if all rows that can have moved to files, as soon as
// more than limit bytes are kept, in whatever batches rows come. No file stays.
func FuzzE15_StatementsInFiles(f *testing.F) {
	all, err := statements()
	if err != nil {
		f.Fatal(err)
	}
	for i := 0; i < len(all); i += 11 {
		f.Add(uint16(i), uint16([]int{1, 400, 5000}[i%3]), uint8(i))
	}
	f.Fuzz(func(t *testing.T, number, limit uint16, batch uint8) {
		s := all[int(number)%len(all)]
		if strings.Contains(s.Text, "CROSS JOIN") {
			return // a million pairs take ten seconds in almost no memory, and the fuzzer's time ends before
		}
		script, err := syntax.Parse(s.Text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := bind.Bind(s.Text, script, s.tables, nil)
		if err != nil {
			t.Fatal(err)
		}
		of := p.Statements[0].Plan
		disk := &scratch.Memory{}
		x := operators.New(&operators.Tables{Rows: s.rows, Batch: int(batch) % 80}, int64(limit), of)
		x.MoveAll(disk)
		rows, err := x.Run(of)
		if err != nil {
			t.Fatalf("%s: %v", s.Text, err)
		}
		if got := corpus.Rows(corpus.Emitted(rows, of.Fields()), of.Fields()); !slices.Equal(got, s.Rows) {
			t.Fatalf("%s: line %d\n%s\nin place of\n%s", s.Text, s.Line, strings.Join(got, "\n"), strings.Join(s.Record.Rows, "\n"))
		}
		if x.Close(); disk.Files > 0 {
			t.Fatalf("%s: %d files are left", s.Text, disk.Files)
		}
	})
}
