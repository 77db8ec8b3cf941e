package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
)

// Rows are the rows of an answer, in its order. They are used by one goroutine at a time. Rows of a long answer are in a temporary file
// that has no name any more; it ends with the Rows, or with this process.
type Rows struct {
	columns  []Column
	rejected []protocol.Rejected
	warnings []client.Warning
	table    *client.Table

	next func() ([]protocol.Value, bool) // nil before the first call of Next
	stop func()
	row  []protocol.Value // valid until the next one; nil before the first and behind the last
}

// ErrStatements is wrapped by the error of Query for a text that does not hold exactly one statement with an answer.
var ErrStatements = errors.New("not one statement")

// Query answers one statement. The rows are complete when it returns. args are as in Prepare. The caller must close the rows.
func (db *DB) Query(ctx context.Context, text string, args ...any) (_ *Rows, err error) {
	s, err := db.Prepare(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if n := len(s.prepared); n != 1 {
		return nil, badStatement(fmt.Errorf("%w: there are %d; Prepare and Run answer several", ErrStatements, n))
	}
	answer, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	return s.Rows(answer, 0), nil
}

// Rows returns the rows of one statement of an answer that Run gave, by its place in Statements; nil if the statement has failed.
func (s *Script) Rows(answer *client.Answer, statement int) *Rows {
	st := &s.prepared[statement]
	t := answer.Query(st.Name)
	if t == nil {
		return nil
	}
	r := &Rows{columns: st.Columns, rejected: answer.Rejected, warnings: answer.Warnings, table: t}
	if st.Lists {
		r.columns = nil
		for _, name := range t.Columns {
			r.columns = append(r.columns, Column{Name: name, Type: textType})
		}
	}
	return r
}

// Columns returns the columns of the answer.
func (r *Rows) Columns() []Column { return r.columns }

// Len returns how many rows there are.
func (r *Rows) Len() int { return r.table.Len() }

// Rejected returns how many rows of the files could not be used, and the first of them, by stream. The answer was computed without them.
func (r *Rows) Rejected() []protocol.Rejected { return r.rejected }

// Warnings returns what was found in the files that may be a mistake.
func (r *Rows) Warnings() []client.Warning { return r.warnings }

// Next moves to the next row. It returns false behind the last row, and after an error, which Err returns.
func (r *Rows) Next() bool {
	if r.next == nil {
		r.next, r.stop = iter.Pull(r.table.All())
	}
	row, ok := r.next()
	r.row = row
	return ok
}

// Err returns why Next could not give all rows.
func (r *Rows) Err() error { return r.table.Err() }

// Close ends the rows; Next returns false from then on. It may be called several times.
func (r *Rows) Close() error {
	if r.stop != nil {
		r.stop()
	}
	r.next, r.stop, r.row = func() ([]protocol.Value, bool) { return nil, false }, nil, nil
	return nil
}

// Batch is some rows of an answer, column by column.
type Batch struct {
	Len     int
	Columns []Vector
}

// Vector is a column of a batch. Of the four slices, the one of the column's kind has a value for each row. Null, if it is not nil, says
// for each row whether its value is NULL.
type Vector struct {
	Kind   protocol.Kind // Int, Float, Bool or Text; DECIMAL, DATE, TIMESTAMP and INTERVAL are texts
	Ints   []int64
	Floats []float64
	Bools  []bool
	Texts  []string
	Null   []bool
}

// Batches yields all rows in their order, some thousand at a time, whatever Next has read. A batch is valid for as long as the caller keeps
// it. Err returns why there were not all.
func (r *Rows) Batches() iter.Seq[*Batch] {
	return func(yield func(*Batch) bool) {
		for part := range r.table.Parts() {
			if !yield(r.batch(part)) {
				return
			}
		}
	}
}

func (r *Rows) batch(part protocol.Rows) *Batch {
	b := &Batch{Len: part.Len(), Columns: make([]Vector, len(r.columns))}
	for i, c := range r.columns {
		b.Columns[i].Kind = kindOf(c.Type)
	}
	n := 0
	for row := range part.All() {
		for i := range b.Columns {
			b.Columns[i].add(row[i], n, b.Len)
		}
		n++
	}
	return b
}

// add adds the value of row n, out of so many.
func (v *Vector) add(value protocol.Value, n, of int) {
	if value.Kind == protocol.Null {
		if v.Null == nil {
			v.Null = make([]bool, of)
		}
		v.Null[n] = true
	}
	switch v.Kind {
	case protocol.Int:
		v.Ints = append(v.Ints, value.Int)
	case protocol.Float:
		f := value.Float
		if value.Kind == protocol.Int {
			f = float64(value.Int)
		}
		v.Floats = append(v.Floats, f)
	case protocol.Bool:
		v.Bools = append(v.Bools, value.Int != 0)
	default:
		v.Texts = append(v.Texts, value.String())
	}
}

// ErrNoRows is returned by Row.Scan if the answer has no row.
var ErrNoRows = errors.New("the answer has no row")

// Row is the first row of an answer, or why there is none.
type Row struct {
	rows *Rows
	err  error
}

// QueryRow answers one statement of which one row is wanted. Scan of the row returns the error, if there is one.
func (db *DB) QueryRow(ctx context.Context, text string, args ...any) *Row {
	rows, err := db.Query(ctx, text, args...)
	return &Row{rows, err}
}

// Scan copies the columns of the first row, as Rows.Scan does; others are ignored. Without a row the error is ErrNoRows.
func (r *Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer func() { _ = r.rows.Close() }()
	if !r.rows.Next() {
		return cmp.Or(r.rows.Err(), ErrNoRows)
	}
	return r.rows.Scan(dest...)
}
