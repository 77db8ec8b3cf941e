package question

import (
	"context"
	"fmt"
	"strings"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// Kind says what is needed to answer a statement.
type Kind uint8

const (
	OverTables Kind = iota // a cluster, which reads the tables
	OfNothing              // no table: the rows are computed from the statement alone
	OfFooters              // what the files of its tables say about them
	AboutTypes             // DESCRIBE and SHOW TABLES
)

// kindOf is what Kind has found out about a statement.
type kindOf struct {
	known bool
	kind  Kind
	err   error
}

// Kind returns what is needed to answer a statement. It returns an error for a statement that no cluster can answer.
func (q *Question) Kind(statement int) (Kind, error) {
	k := &q.kinds[statement]
	if !k.known {
		k.known = true
		k.kind, k.err = q.kind(statement)
	}
	return k.kind, k.err
}

func (q *Question) kind(statement int) (Kind, error) {
	st := &q.program.Statements[statement]
	switch st.Kind {
	case bind.Tables, bind.Description:
		return AboutTypes, nil
	}
	if !plan.ReadsTables(st.Plan) {
		return OfNothing, nil
	}
	if q.known[statement] != nil {
		return OfFooters, nil
	}
	rows := make([]int64, len(q.tables))
	for i, t := range q.tables {
		rows[i] = q.Plan(statement).Tables[i].Rows
		if t.sampled != nil && t.estimate > t.bytes {
			rows[i] /= t.estimate / max(t.bytes, 1) // a packed table may have far fewer rows than estimated
		}
	}
	return OverTables, split.Check(q.Plan(statement), rows)
}

// Local answers a statement that needs no cluster.
func (q *Question) Local(statement int) (client.Table, error) {
	st := &q.program.Statements[statement]
	columns, rows := []string{"column_name", "column_type"}, [][]any(nil)
	switch st.Kind {
	case bind.Tables:
		columns = []string{"name"}
		for _, name := range Names(q.cfg.Input) {
			rows = append(rows, []any{name})
		}
	case bind.Description:
		for _, f := range st.Plan.Fields() {
			rows = append(rows, []any{f.Name, q.described(f)})
		}
	default:
		columns = nil
		for _, f := range st.Plan.Fields() {
			columns = append(columns, f.Name)
		}
		root, err := st.Plan, error(nil)
		if q.known[statement] != nil {
			root = q.known[statement]
		}
		if rows, err = exec.Local(q.cfg.Text, root); err != nil {
			return client.Table{}, err
		}
	}
	out := protocol.NewRows(len(columns))
	for _, row := range rows {
		values := make([]protocol.Value, len(row))
		for i, v := range row {
			var err error
			if values[i], err = protocol.ValueOf(v); err != nil {
				return client.Table{}, err
			}
		}
		if err := out.Add(values...); err != nil {
			return client.Table{}, err
		}
	}
	return client.NewTable(st.Name, columns, out), nil
}

// knows returns what the files of a table say of some columns, nil if they do not say it. If they cannot be read, the session says why.
func (q *Question) knows(ctx context.Context, table int, columns []csv.Column) *split.Known {
	rows, known, ok, err := q.cfg.Input.Known(ctx, q.tables[table].stream(), columns)
	if !ok || err != nil {
		return nil
	}
	return &split.Known{Rows: rows, Columns: known}
}

// described returns the type of a column for people, or what the column is if it is not read.
func (q *Question) described(f plan.Field) string {
	if f.Type.Kind == types.Null {
		for _, t := range q.tables {
			if t.sampled == nil {
				continue
			}
			if c := t.sampled.Column(f.Name); c != nil && c.Why != "" {
				return "not read: " + c.Why
			}
		}
	}
	return f.Type.String()
}

// Explain returns what is read for a statement, and where it is computed.
func (q *Question) Explain(ctx context.Context, statement int) (string, error) {
	kind, err := q.Kind(statement)
	if err != nil {
		return "", err
	}
	switch kind {
	case OverTables:
	case OfFooters:
		return "  the footers of the files have the answer, so no rows are read\n", nil
	default:
		return "  no files are read\n", nil
	}
	var b strings.Builder
	for _, t := range q.tables {
		if t.sampled != nil {
			fmt.Fprintf(&b, "  table %s: %s of %s, %s\n", t.Name, units.Plural(t.files, "file"), t.Files, units.Bytes(t.bytes))
		} else {
			fmt.Fprintf(&b, "  table %s: the files %s, declared\n", t.Name, t.Files)
		}
	}
	q.explainGroups(ctx, &b, statement)
	text, err := split.Explain(q.Plan(statement))
	b.WriteString(text)
	return b.String(), err
}

// explainGroups says how many row groups are read of the tables whose files say what need not be read.
func (q *Question) explainGroups(ctx context.Context, b *strings.Builder, statement int) {
	a, err := split.Analysis(q.Plan(statement))
	if err != nil {
		return // this is reported where the statement is explained
	}
	for _, s := range a.Streams {
		if share, ok := q.foresee(ctx, &s); ok {
			fmt.Fprintf(b, "  %d of %s of %s may have rows that WHERE wants\n", share.Read, units.Plural(share.Groups, "row group"), s.Name)
		}
	}
}
