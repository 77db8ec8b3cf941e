// Package answer is the answers of a session, and their JSON: what `posta run --json` prints and what the oracles of the
// analyses return.
//
// The bytes are a function of the answers alone: queries in the order of the analysis, numbers in their shortest form that
// reads back to the same bits, so that two runs can be compared with cmp. Texts come from people's files and may hold control
// bytes or invalid UTF-8; JSON stays valid whatever they hold.
//
// The package computes nothing, reads nothing, and knows no analysis.
package answer

import (
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/fold"
)

// Answer is everything a session answers.
type Answer struct {
	Analysis string
	Session  string
	Queries  []Query    // in the order of Analysis.Queries
	Rejected []Rejected // every stream, in the order of Analysis.Streams
}

// Query is the rows of one query. A value is a string, an int64 or a float64.
type Query struct {
	Name    string
	Columns []string
	Rows    [][]any
}

// Rejected is the rows of a stream that were not taken.
type Rejected struct {
	Stream string
	analyses.Rejects
}

// Reduce runs the reducer of a over complete tables, indexed as Analysis.Tables with that of rejected rows after them.
func Reduce(a *analyses.Analysis, args analyses.Args, session string, tables []*fold.Table) (*Answer, error) {
	ans := &Answer{Analysis: a.Name, Session: session}
	for i := range a.Queries {
		q, err := ReduceQuery(a, args, i, tables)
		if err != nil {
			return nil, err
		}
		ans.Queries = append(ans.Queries, q)
	}
	for _, s := range a.Streams {
		r, err := analyses.RejectsOf(tables[len(a.Tables)], s.Name)
		if err != nil {
			return nil, err
		}
		ans.Rejected = append(ans.Rejected, Rejected{s.Name, r})
	}
	return ans, nil
}

// ReduceQuery computes one query, whose tables are complete.
func ReduceQuery(a *analyses.Analysis, args analyses.Args, query int, tables []*fold.Table) (Query, error) {
	spec := a.Queries[query]
	q := Query{Name: spec.Name, Columns: spec.Columns}
	need := make([]*fold.Table, len(spec.Tables))
	for i, name := range spec.Tables {
		need[i] = tables[a.TableIndex(name)]
		if err := need[i].Err(); err != nil {
			return q, fmt.Errorf("query %s of %s: %w", spec.Name, a.Name, err)
		}
	}
	var bad error
	emit := func(row ...any) {
		if bad == nil {
			bad = checkRow(row, len(spec.Columns))
		}
		q.Rows = append(q.Rows, row)
	}
	err := a.Reduce(args, query, need, emit)
	if err == nil {
		err = bad
	}
	if err != nil {
		return q, fmt.Errorf("query %s of %s: %w", spec.Name, a.Name, err)
	}
	return q, nil
}

func checkRow(row []any, columns int) error {
	if len(row) != columns {
		return fmt.Errorf("a row has %d values for %d columns", len(row), columns)
	}
	for i, v := range row {
		switch v.(type) {
		case string, int64, float64:
		default:
			return fmt.Errorf("column %d has a value of type %T; emit string, int64 or float64", i+1, v)
		}
	}
	return nil
}

// Query returns the query called name, nil if there is none.
func (a *Answer) Query(name string) *Query {
	for i := range a.Queries {
		if a.Queries[i].Name == name {
			return &a.Queries[i]
		}
	}
	return nil
}
