package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/internal/gen"
)

const (
	tpchFile = "examples/sql/tpch.sql"
	// lineitems is the default number of rows of the largest table: scale 1, about 1 GB of CSV.
	lineitems = 6_000_000
)

// measureTPCH measures the 22 queries of TPC-H.
func measureTPCH(ctx context.Context, c *Config) (done Section, err error) {
	queries, err := c.readTPCH()
	if errors.Is(err, fs.ErrNotExist) { // the program was installed without its source: omit this section
		done.About, done.Skipped = "queries of TPC-H", []Skip{{"all", err.Error()}}
		return done, nil
	}
	if err != nil {
		return done, err
	}
	return c.ask(ctx, "the queries of TPC-H over %d rows of lineitem and the other tables as "+c.Format,
		dataset{"tpch", c.Format, c.factsOr(lineitems), gen.TPCH}, queries)
}

// readTPCH reads the queries from their file in Posta's source.
func (c *Config) readTPCH() (all []statement, err error) {
	b, err := os.ReadFile(filepath.Join(c.Source, tpchFile))
	if err != nil {
		return nil, fmt.Errorf("the queries of TPC-H are not here; run this in the folder that holds Posta: %w", err)
	}
	script, err := syntax.Parse(string(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tpchFile, err)
	}
	tables := c.declare("tpch")
	for _, st := range script.Statements {
		if _, ok := st.Node.(*syntax.Query); !ok {
			continue
		}
		name, _, _ := strings.Cut(st.Name.Name, "_")
		s, err := newStatement(name, syntax.Print(&syntax.Script{Statements: []syntax.Statement{{Node: st.Node}}}), tables)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
