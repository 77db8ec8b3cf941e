package sqldiff

import (
	"context"
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/local"
	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/internal/gen"
)

var (
	tpchRows = flag.Int("tpch", 60_000, "rows of lineitem for TPC-H; 6,000,000 are scale 1")
	tpchSeed = flag.Uint64("tpch-seed", 8, "seed of the data for TPC-H; with this one each query has an answer")
)

// declared returns the tables that a script declares.
func declared(t *testing.T, script *syntax.Script) (tables []catalog.Table) {
	t.Helper()
	for _, s := range script.Statements {
		c, ok := s.Node.(*syntax.CreateTable)
		if !ok {
			continue
		}
		table := catalog.Table{Name: c.Name.Name, Files: c.Files.Value}
		for _, d := range c.Columns {
			typ, _, err := types.Parse(strings.ToUpper(d.Type.Name), d.Type.Args, d.Type.List)
			if err != nil {
				t.Fatal(err)
			}
			table.Columns = append(table.Columns, catalog.Column{Name: d.Name.Name, Type: typ})
		}
		tables = append(tables, table)
	}
	return tables
}

// readCSV makes the tables in DuckDB, from the same files.
func (o *Oracle) readCSV(dir string, tables []catalog.Table) error {
	for _, t := range tables {
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, fmt.Sprintf("'%s': '%s'", c.Name, c.Type))
		}
		text := fmt.Sprintf("CREATE OR REPLACE TABLE %s AS SELECT * FROM read_csv('%s', header = true, delim = ',', quote = '\"', "+
			"allow_quoted_nulls = false, columns = {%s})",
			t.Name, filepath.Join(dir, t.Files), strings.Join(columns, ", "))
		if _, err := o.db.ExecContext(context.Background(), text); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return nil
}

// cells writes the rows of an answer in the form of DuckDB's rows.
func cells(t *testing.T, rows [][]any, fields []plan.Field) (out [][]string) {
	t.Helper()
	for _, row := range rows {
		line := make([]string, len(row))
		for i, v := range row {
			switch v := v.(type) {
			case nil:
				line[i] = "NULL"
			case float64:
				line[i] = float(v)
			case string:
				line[i] = cell(t, v, fields[i].Type)
			default:
				line[i] = fmt.Sprint(v)
			}
		}
		out = append(out, line)
	}
	return out
}

func cell(t *testing.T, v string, typ types.Type) string {
	t.Helper()
	switch typ.Kind {
	case types.Decimal:
		if r, ok := new(big.Rat).SetString(v); ok {
			return r.RatString()
		}
	case types.Date:
		if d, err := time.Parse(time.DateOnly, v); err == nil {
			return fmt.Sprint(d.Unix() / 86400)
		}
	default:
		return fmt.Sprintf("%q", v)
	}
	t.Fatalf("%q is not %s", v, typ)
	return ""
}

// answered answers a statement as nodes do.
func answered(t *testing.T, plan *split.Plan, dir string) (*answer.Answer, time.Duration) {
	t.Helper()
	a, err := split.Analysis(plan)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	found, err := local.Run(a, os.DirFS(dir), local.Options{Joiners: 2, Aggregators: 2})
	if err != nil {
		t.Fatal(err)
	}
	return found, time.Since(began)
}

// withSizes adds the sizes of tables, so that joiners have the small ones whole.
func withSizes(t *testing.T, tables []catalog.Table, dir string, factor int64) []catalog.Table {
	t.Helper()
	tables = slices.Clone(tables)
	for i := range tables {
		info, err := os.Stat(filepath.Join(dir, tables[i].Files))
		if err != nil {
			t.Fatal(err)
		}
		tables[i].Bytes, tables[i].Rows = info.Size()*factor, max(1, info.Size()*factor/120)
	}
	return tables
}

// The 22 queries of TPC-H, compiled for nodes and run by several joiners and aggregators, give DuckDB's answers: exact values to the last
// digit.
func TestQ5_TPCHIsAnsweredAsDuckDBDoes(t *testing.T) {
	dir := t.TempDir()
	if err := gen.TPCH(gen.OnDisk(dir), *tpchRows, *tpchSeed); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../examples/sql/tpch.sql")
	if err != nil {
		t.Fatal(err)
	}
	script, err := syntax.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	o, tables := newOracle(t), declared(t, script)
	if err := o.readCSV(dir, tables); err != nil {
		t.Fatal(err)
	}
	plan := &split.Plan{Text: string(text), Tables: tables}
	program, err := plan.Bind()
	if err != nil {
		t.Fatal(err)
	}
	if len(program.Statements) != 22 {
		t.Errorf("%d queries", len(program.Statements))
	}
	queries := slices.DeleteFunc(slices.Clone(script.Statements), func(s syntax.Statement) bool {
		_,
			ok := s.Node.(*syntax.Query)
		return !ok
	})
	for i, st := range program.Statements {
		t.Run(st.Name, func(t *testing.T) {
			answer, took := answered(t, plan.Of(i), dir)
			rows, err := o.Query(syntax.Print(&syntax.Script{Statements: []syntax.Statement{{Node: queries[i].Node}}}))
			if err != nil {
				t.Fatal(err)
			}
			fields := st.Plan.Fields()
			near := make([]bool, len(fields))
			for c, f := range fields {
				near[c] = f.Type.Kind == types.Double
			}
			got := cells(t, answer.Queries[0].Rows, fields)
			if why := same(got, theirs(rows, fields), true, near); why != "" {
				t.Error(why)
			}
			// every table but the largest is small, or the tables that are small at scale 10
			for _, factor := range []int64{1, int64(60_000_000 / *tpchRows)} {
				sized := &split.Plan{Text: plan.Text, Statement: i, Tables: withSizes(t, tables, dir, factor)}
				other, _ := answered(t, sized, dir)
				if !reflect.DeepEqual(other.Queries[0].Rows, answer.Queries[0].Rows) {
					t.Errorf("with sizes times %d the answer is %v, without sizes %v", factor, other.Queries[0].Rows, answer.Queries[0].Rows)
				}
			}
			if len(got) == 0 || len(got) == 1 && !slices.ContainsFunc(got[0], func(v string) bool { return v != "NULL" }) {
				t.Error("no rows, or NULL: there is nothing to compare")
			}
			t.Logf("%d rows in %v", len(got), took.Round(time.Millisecond))
		})
	}
}
