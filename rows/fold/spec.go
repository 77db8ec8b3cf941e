package fold

import (
	"errors"
	"fmt"

	"posta.dev/posta/rows/batch"
)

var (
	// ErrSpec is wrapped by the errors of [Spec.Check]: no table can have this spec.
	ErrSpec = errors.New("bad table spec")
	// ErrMalformed is wrapped by the errors of [Table.Merge] when the payload is not a partial of the table's spec.
	ErrMalformed = errors.New("malformed partial")
	// ErrOverflow is wrapped by [Table.Err] and [Table.Merge] when a Sum left the range of int64, even if only temporarily.
	ErrOverflow = errors.New("integer sum overflows")
	// ErrDuplicateKey is wrapped by [Table.Err] when a union has got the same key from two tables.
	ErrDuplicateKey = errors.New("a key came twice")
	// ErrTooLarge is wrapped by [Table.Err] and [Table.Merge] when a table has more than MaxRows rows, or more than
	// its bound (see [Table.SetBound]).
	ErrTooLarge = errors.New("table too large")
)

const (
	MaxRows  = 1<<31 - 1 // of a table
	MaxKeys  = 16
	MaxAggs  = 1024
	MaxLeast = 1024    // texts of a Least aggregate
	MaxSteps = 1 << 16 // steps of a Histogram, numbers of a Smallest
)

// KeyKind is the type of a key.
type KeyKind uint8

const (
	KeyText KeyKind = iota + 1 // bytes
	KeyInt                     // int64
)

// AggKind says how an aggregate combines what is added to a cell. A new kind needs a case in Spec.Check and Spec.columns, a cell
// (column.addRows), functions that add to the cell and read it, and a wire form (column.appendTo, Table.rowBytes, column.mergeColumn).
// When the spec of model_test.go has the kind, the tests there fail for each missing part.
type AggKind uint8

const (
	Sum     AggKind = iota + 1 // int64; overflow is an error
	Exact                      // exact.Sum of floats and integers
	MinText                    // the smallest by bytes
	MaxText                    // the largest by bytes
	Least                      // the Agg.N smallest distinct texts by bytes, in order
	// how often each int64 was added: for tables with few rows and many numbers in each. All numbers of a row go into one frame
	Counts
	Histogram // how often each int64 was added, in at most Agg.N steps: above that, numbers lose their lowest bits
	Smallest  // the Agg.N smallest distinct int64s, in order
)

// Merging says where rows with equal keys become one row. Always and Late give the same answers at different costs.
type Merging uint8

const (
	// Always merges in joiners, before rows travel, and in aggregators.
	Always Merging = iota
	// Late merges only in aggregators. It is for tables whose keys hardly repeat among the few thousand rows that a joiner
	// flushes at a time. There, looking up each key costs more than sending the few duplicate rows.
	Late
	// Never merges nowhere. The table is a bag of rows without aggregates, which keeps duplicates. Unless PartitionBy is set, its
	// rows pass the aggregators as they come, whatever their key, and no Prune sees them.
	Never
)

// Key is a key of a table.
type Key struct {
	Name string
	Kind KeyKind
}

// Agg is an aggregate of a table.
type Agg struct {
	Name string
	Kind AggKind
	N    int // for Least: how many texts, 1 to MaxLeast; for Histogram and Smallest: how many steps or numbers, 2 to MaxSteps
}

// Spec describes a table. Without keys it has at most one row.
type Spec struct {
	Name   string
	Stream string // the table is complete when this stream has ended
	Keys   []Key
	Aggs   []Agg
	Merge  Merging // of rows with equal keys

	// Nulls says that rows may have NULL for a key (KeyBuilder.Null). NULL equals NULL, and comes after all values.
	Nulls bool

	// PartitionBy is how many of the first keys determine the aggregator of a row; 0 means all. Rows of two tables are in the same
	// aggregator if these keys are equal and of equal kinds. A bag with PartitionBy waits in the aggregators for a table that is
	// made from it.
	PartitionBy int

	// From names the tables from which each aggregator makes this one when they are complete (analyses.Analysis.Finish). Those
	// tables do not leave the aggregators. No joiner adds rows to a table that is made so. Several aggregators may make rows with
	// the same key, which the reducer merges.
	From []string
}

// Check reports whether a table can have the spec.
func (s *Spec) Check() error {
	switch {
	case s.Name == "":
		return fmt.Errorf("%w: it has no name", ErrSpec)
	case len(s.Keys) > MaxKeys || len(s.Aggs) > MaxAggs:
		return fmt.Errorf("%w: %s has %d keys and %d aggregates, at most %d and %d", ErrSpec, s.Name, len(s.Keys), len(s.Aggs), MaxKeys, MaxAggs)
	}
	if s.Merge > Never || s.Merge == Never && len(s.Aggs) > 0 {
		return fmt.Errorf("%w: %s merges its rows in way %d with %d aggregates; rows that are never merged have none", ErrSpec, s.Name, s.Merge,
			len(s.Aggs))
	}
	if s.Nulls && (len(s.Keys) == 0 || s.Merge == Never && s.PartitionBy == 0) {
		return fmt.Errorf("%w: %s has %d keys, and merges its rows in way %d; only keys that are merged, or meet others, may be NULL", ErrSpec,
			s.Name, len(s.Keys), s.Merge)
	}
	if s.PartitionBy < 0 || s.PartitionBy > len(s.Keys) {
		return fmt.Errorf("%w: %s is spread by %d of its %d keys", ErrSpec, s.Name, s.PartitionBy, len(s.Keys))
	}
	for _, k := range s.Keys {
		if k.Kind != KeyText && k.Kind != KeyInt {
			return fmt.Errorf("%w: key %s of %s is of unknown kind %d", ErrSpec, k.Name, s.Name, k.Kind)
		}
	}
	for _, a := range s.Aggs {
		switch {
		case a.Kind < Sum || a.Kind > Smallest:
			return fmt.Errorf("%w: aggregate %s of %s is of unknown kind %d", ErrSpec, a.Name, s.Name, a.Kind)
		case a.Kind == Least && (a.N < 1 || a.N > MaxLeast):
			return fmt.Errorf("%w: aggregate %s of %s keeps %d texts, give it 1 to %d", ErrSpec, a.Name, s.Name, a.N, MaxLeast)
		case (a.Kind == Histogram || a.Kind == Smallest) && (a.N < 2 || a.N > MaxSteps):
			return fmt.Errorf("%w: aggregate %s of %s keeps %d numbers, give it 2 to %d", ErrSpec, a.Name, s.Name, a.N, MaxSteps)
		}
	}
	if err := batch.CheckSpec(s.columns()); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrSpec, s.Name, err)
	}
	return nil
}

// nullsName is the name of the column of the wire form that says which keys are NULL.
const nullsName = "nulls"

// keyColumns returns how many columns of the wire form belong to the key.
func (s *Spec) keyColumns() int {
	if s.Nulls {
		return len(s.Keys) + 1
	}
	return len(s.Keys)
}

// columns returns the columns of the wire form: keys, which of them are NULL, then aggregates.
func (s *Spec) columns() []batch.FieldSpec {
	fields := make([]batch.FieldSpec, 0, s.keyColumns()+len(s.Aggs))
	for _, k := range s.Keys {
		kind := batch.Text
		if k.Kind == KeyInt {
			kind = batch.Int
		}
		fields = append(fields, batch.FieldSpec{Name: k.Name, Kind: kind})
	}
	if s.Nulls {
		fields = append(fields, batch.FieldSpec{Name: nullsName, Kind: batch.Int})
	}
	for _, a := range s.Aggs {
		kind := batch.Text
		if a.Kind == Sum {
			kind = batch.Int
		}
		fields = append(fields, batch.FieldSpec{Name: a.Name, Kind: kind})
	}
	return fields
}
