package operators

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

var update = flag.Bool("update", false, "rewrite the expected answers")

// world holds tables and their rows.
type world struct {
	tables []plan.Table
	source *Tables
	files  int // that were made to keep rows
}

// parseTable reads a table: its name and columns, then one row per line, with values separated by |. Line i of a table t is line i of
// t.csv.
func (w *world) parseTable(text string) {
	head, body, _ := strings.Cut(text, "\n")
	name, columns, _ := strings.Cut(strings.TrimPrefix(head, "TABLE "), " (")
	t := plan.Table{Name: name}
	for _, c := range strings.Split(strings.TrimSuffix(columns, ")"), ", ") {
		column, kind, _ := strings.Cut(c, " ")
		t.Fields = append(t.Fields, plan.Field{Name: column, Type: typeOf(kind)})
	}
	fields := append(t.Fields[:len(t.Fields):len(t.Fields)], plan.Field{Type: types.Of(types.Text)}, plan.Field{Type: types.Of(types.BigInt)})
	r := &Batch{}
	lines := []string{}
	if body != "" {
		lines = strings.Split(body, "\n")
	}
	r.N = len(lines)
	for _, f := range fields {
		r.Columns = append(r.Columns, eval.NewVector(f.Type.Kind, r.N))
	}
	for i, line := range lines {
		for k, cell := range append(strings.Split(line, "|"), name+".csv", fmt.Sprint(i+1)) {
			put(r.Columns[k], int32(i), cell, fields[k].Type)
		}
	}
	w.tables = append(w.tables, t)
	w.source.Rows[name] = r
}

func typeOf(name string) types.Type {
	if digits, ok := strings.CutPrefix(name, "DECIMAL_"); ok {
		scale, _ := strconv.Atoi(digits)
		return types.DecimalOf(18, scale)
	}
	t, _, err := types.Parse(name, nil, false)
	if err != nil {
		panic(err)
	}
	return t
}

func put(v *eval.Vector, row int32, cell string, t types.Type) {
	cell = strings.TrimSpace(cell)
	if cell == "NULL" {
		v.SetNull(row)
		return
	}
	value := literal(cell, t)
	switch x := value.(type) {
	case int64:
		v.Ints[row] = x
	case float64:
		v.Floats[row] = x
	case bool:
		v.Bools[row] = x
	case string:
		v.Texts[row] = x
	}
}

// literal parses a value as package bind does.
func literal(cell string, t types.Type) any {
	if t.Kind == types.Text {
		return strings.Trim(cell, "'")
	}
	name := t.String()
	text := fmt.Sprintf("SELECT '%s'::%s", cell, name)
	if t.Kind == types.Double {
		f, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			panic(err)
		}
		return f
	}
	script, err := syntax.Parse(text)
	if err != nil {
		panic(err)
	}
	p, err := bind.Bind(text, script, nil, nil)
	if err != nil {
		panic(err)
	}
	return plan.Exprs(p.Statements[0].Plan)[0].(*plan.Const).Value
}

// plan binds a statement.
func (w *world) plan(text string) (plan.Node, error) {
	script, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	p, err := bind.Bind(text, script, w.tables, nil)
	if err != nil {
		return nil, err
	}
	return p.Statements[0].Plan, nil
}

// answer runs a statement, and writes its rows in the form of tables.
func (w *world) answer(text string, batch int) string {
	return w.answerWithin(text, batch, func(plan plan.Node) *Executor { return New(w.source, 16<<20, plan) })
}

// answerWithin runs a statement on an executor.
func (w *world) answerWithin(text string, batch int, on func(plan plan.Node) *Executor) string {
	plan, err := w.plan(text)
	if err != nil {
		return err.Error()
	}
	w.source.Batch = batch
	x := on(plan)
	defer x.Close()
	var b strings.Builder
	err = x.Each(plan, func(rows *Batch) error {
		for _, i := range rows.Sel {
			for k, f := range plan.Fields() {
				if k > 0 {
					b.WriteByte('|')
				}
				b.WriteString(show(rows.Columns[k], i, f.Type))
			}
			b.WriteByte('\n')
		}
		return nil
	})
	if err != nil {
		e := (*values.Error)(nil)
		if errors.As(err, &e) {
			return "error: " + e.Error()
		}
		return "error: " + err.Error()
	}
	if b.Len() == 0 {
		return "(no rows)"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Every file has tables, then statements, each followed by ---- and its answer. The answer does not depend on how rows are cut into
// batches.
func TestQ7_Answers(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { golden(t, path) })
	}
}

func golden(t *testing.T, path string) {
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{source: &Tables{Rows: map[string]*Batch{}}}
	var out strings.Builder
	for _, c := range strings.Split(strings.TrimSpace(string(file)), "\n\n") {
		if strings.HasPrefix(c, "TABLE ") {
			w.parseTable(c)
			out.WriteString(c + "\n\n")
			continue
		}
		text, want, _ := strings.Cut(c, "\n----")
		want = strings.TrimPrefix(want, "\n")
		got := w.answer(text, 0)
		if got != want && !*update {
			t.Errorf("%s\n got\n%s\nwant\n%s", text, got, want)
		}
		for batch := 1; batch < 4; batch++ {
			if small := w.answer(text, batch); small != got {
				t.Errorf("%s\n in batches of %d\n%s\n in one\n%s", text, batch, small, got)
			}
			if moved := w.moved(t, text, batch, 1); moved != got {
				t.Errorf("%s\n in files, from batches of %d\n%s\n in memory\n%s", text, batch, moved, got)
			}
		}
		out.WriteString(text + "\n----\n" + got + "\n\n")
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
