// Package answer holds the answers of a session and writes them as JSON. `posta run --json` prints this JSON, and the oracles
// of the analyses return such answers.
//
// The bytes depend only on the answers, so two runs can be compared with cmp: queries are in the order of the analysis, and
// numbers have the shortest form that parses to the same bits. Texts come from users' files and may hold control bytes or
// invalid UTF-8; the JSON is valid even then.
//
// The package computes nothing, reads nothing, and knows no analysis.
package answer

import (
	"bytes"
	"fmt"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/fold"
)

// Answer is everything a session answers.
type Answer struct {
	Analysis string
	Session  string
	Queries  []Query    // in the order of Analysis.Queries
	Rejected []Rejected // every stream, in the order of Analysis.Streams
}

// Query is the rows of one query. A value is a string, an int64, a float64, a bool or nil.
type Query struct {
	Name    string
	Columns []string
	Rows    [][]any
}

// Rejected holds the rejected rows of a stream.
type Rejected struct {
	Stream string
	analyses.Rejects
}

// Reduce runs the reducer of a over complete tables. They are indexed as Analysis.Tables; the table of rejected rows comes
// after them.
func Reduce(a *analyses.Analysis, args analyses.Args, session string, tables []*fold.Table) (*Answer, error) {
	ans := &Answer{Analysis: a.Name, Session: session}
	for i := range a.Queries {
		q, err := ReduceQuery(a, args, i, tables)
		if err != nil {
			return nil, err
		}
		ans.Queries = append(ans.Queries, q)
	}
	for i := range a.Streams {
		for _, name := range a.Streams[i].Counts() {
			r, err := analyses.RejectsOf(tables[len(a.Tables)], name)
			if err != nil {
				return nil, err
			}
			ans.Rejected = append(ans.Rejected, Rejected{name, r})
		}
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
	cells := len(spec.Columns)
	if spec.Rows != nil && len(spec.Order) > 0 {
		cells = len(spec.Order)
	}
	var bad error
	emit := func(row ...any) {
		if bad == nil {
			bad = checkRow(row, cells)
		}
		q.Rows = append(q.Rows, slices.Clone(row)) // the analysis may reuse row
	}
	var err error
	if spec.Rows != nil {
		err = spec.Rows(args, need[0], emit)
	} else {
		err = a.Reduce(args, query, need, emit)
	}
	if err == nil {
		err = bad
	}
	if err == nil && spec.Rows != nil {
		err = inOrder(q.Rows, spec.Order)
		shown(q.Rows, len(spec.Columns), spec.Order)
	}
	if err != nil {
		return q, fmt.Errorf("query %s of %s: %w", spec.Name, a.Name, err)
	}
	return q, nil
}

// inOrder sorts rows as an output of a cluster is sorted (analyses.Query.Rows).
func inOrder(rows [][]any, order []analyses.Order) error {
	keys := make(map[*any][]byte, len(rows)) // sort keys, by a row's first cell
	for _, row := range rows {
		var key []byte
		for i, c := range row {
			v, err := protocol.ValueOf(c)
			if err != nil {
				return err
			}
			d := protocol.Direction{}
			if len(order) > 0 {
				d = protocol.Direction{Desc: order[i].Desc, NullsFirst: order[i].NullsFirst}
			}
			key = protocol.AppendOrderedCell(key, &v, d)
		}
		keys[&row[0]] = key
	}
	slices.SortFunc(rows, func(a, b []any) int { return bytes.Compare(keys[&a[0]], keys[&b[0]]) })
	return nil
}

// shown replaces sorted rows by what their columns show.
func shown(rows [][]any, columns int, order []analyses.Order) {
	if len(order) == 0 {
		return
	}
	for i, row := range rows {
		rows[i] = make([]any, columns)
		for k, o := range order {
			if o.Column >= 0 {
				rows[i][o.Column] = row[k]
			}
		}
	}
}

func checkRow(row []any, columns int) error {
	if len(row) != columns {
		return fmt.Errorf("a row has %d values for %d columns", len(row), columns)
	}
	for i, v := range row {
		switch v.(type) {
		case string, int64, float64, bool, nil:
		default:
			return fmt.Errorf("column %d has a value of type %T; emit string, int64, float64, bool or nil", i+1, v)
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
