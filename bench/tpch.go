package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/internal/gen"
)

// tpchQueries are the names of the measured queries in tpchFile.
var tpchQueries = []string{"q1", "q3", "q5", "q6", "q12", "q14", "q18", "q19"}

const (
	tpchFile = "examples/sql/tpch.sql"
	// lineitems is the default number of rows of the largest table: scale 1, about 1 GB of CSV.
	lineitems = 6_000_000
)

// measureTPCH runs queries of TPC-H as measureSQL runs its statements. Both programs get the types of the tables, and read
// the same CSV files for each query.
func measureTPCH(ctx context.Context, c *Config) (done Section, err error) {
	queries, err := readTPCH(c.Source)
	if errors.Is(err, fs.ErrNotExist) { // the program was installed without its source: omit this section
		done.About, done.Skipped = "queries of TPC-H", []Skip{{"all", err.Error()}}
		return done, nil
	}
	if err != nil {
		return done, err
	}
	rows := c.factsOr(lineitems)
	version, err := (&workload{generate: gen.TPCH}).fingerprint(unchanged)
	if err != nil {
		return done, err
	}
	dir, size, err := madeOnce(filepath.Join(c.Dir, fmt.Sprintf("tpch-%d-%s", rows, version)), func(draft string) error {
		return gen.TPCH(gen.OnDisk(draft), rows, seed)
	})
	if err != nil {
		return done, err
	}
	done.About = fmt.Sprintf("queries of TPC-H over %d rows of lineitem, %d MB of CSV in all tables, with start and end of a cluster; "+
		"times of DuckDB 1.5 over those of posta sql in the same round", rows, size/1e6)
	return c.besideDuckDB(ctx, done, dir, queries)
}

// readTPCH reads the queries from their file in Posta's source.
func readTPCH(source string) (all []statement, err error) {
	b, err := os.ReadFile(filepath.Join(source, tpchFile))
	if err != nil {
		return nil, fmt.Errorf("the queries of TPC-H are not here; run this in the folder that holds Posta: %w", err)
	}
	script, err := syntax.Parse(string(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tpchFile, err)
	}
	var ours, theirs strings.Builder // the tables
	for _, st := range script.Statements {
		t, declares := st.Node.(*syntax.CreateTable)
		if declares {
			var columns []string
			for _, d := range t.Columns {
				columns = append(columns, fmt.Sprintf("'%s': '%s'", d.Name.Name, d.Type))
			}
			ours.WriteString(printed(st) + "\n")
			fmt.Fprintf(&theirs,
				"CREATE VIEW %s AS SELECT * FROM read_csv('DIRECTORY/%s', auto_detect = false, header = true, delim = ',', columns = {%s});\n",
				t.Name.Name, t.Files.Value, strings.Join(columns, ", "))
			continue
		}
		name, _, _ := strings.Cut(st.Name.Name, "_")
		if !slices.Contains(tpchQueries, name) {
			continue
		}
		st.Name = syntax.Ident{}
		all = append(all, statement{name: name, text: ours.String() + printed(st), theirs: theirs.String() + printed(st)})
	}
	if len(all) != len(tpchQueries) {
		return nil, fmt.Errorf("%s has %d of the queries %s", tpchFile, len(all), strings.Join(tpchQueries, ", "))
	}
	return all, nil
}

func printed(st syntax.Statement) string {
	return syntax.Print(&syntax.Script{Statements: []syntax.Statement{st}})
}
