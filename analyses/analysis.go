// Package analyses holds the nouns of an analysis: its parameters, its streams with their CSV columns, the tables it folds
// rows into, and one function per role. The engine runs any [Analysis] and knows nothing about bikes; the packages below
// this one are analyses, named for what they analyse.
//
// The life of a row, and who does what:
//
//	parser      splits CSV, hands the wanted fields of a row to NewParser's function, which appends typed values to a batch;
//	            without one the fields are taken for what the stream's schema says they are
//	joiner      NewJoiner's Joiner keeps what it needs of the reference streams and folds facts into tables
//	aggregator  merges tables, partitioned by key: the engine does it from the table's spec alone. Where most rows of a
//	            partition are in no answer, Prune drops them before they travel on
//	reducer     has all partitions: Reduce turns tables into the rows of each query
//
// Everything an analysis keeps between two calls is rebuilt by the engine after a crash by calling Reference again with
// the same batches; facts are folded and flushed within one commit and never kept. So an analysis has no code for
// recovery, and none for the network.
//
// A program is the posta command with the analyses that it hands to cmd.Main; docs/adding-an-analysis.md walks through one.
// [Columns], [Integer] and [FoldFacts] make plain analyses short.
package analyses

import (
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

// Analysis describes one analysis. It is a value; the functions must be safe for concurrent sessions.
type Analysis struct {
	Name    string      // as in `posta run NAME`: lower case letters, digits, dashes
	About   string      // one line for people
	Params  []Param     // what a client may override
	Streams []Stream    // reference streams before fact streams, in the order clients send them
	Tables  []fold.Spec // what facts and reference rows are folded into
	Queries []Query     // in the order answers are printed

	// NewParser returns the function that turns rows of one file of a stream into typed columns of b. file.Tags holds what
	// the stars of the stream's Files pattern stood for. The function gets the wanted fields in the order of
	// Stream.Columns (nil for an absent optional one), unquoted; they are valid during the call. An error rejects the row
	// (N7): the engine takes back what the call appended, and counts the row with file, line and the error's text. One function is
	// called by one goroutine at a time; several may be at work on one file, so what they share must not change.
	// Without a NewParser column i of the CSV becomes column i of the Schema; a number that is none rejects its row.
	NewParser func(args Args, stream int, file File, b *batch.Builder) (func(fields [][]byte) error, error)

	// NewJoiner returns the joiner of one session in one node.
	NewJoiner func(args Args, replica Replica) (Joiner, error)

	// ReferenceLater promises that what is emitted of reference streams alone is emitted by the first joiner (Replica.Index 0), if by
	// any. The engine then spares the others the reference streams until facts come to them, and for good where none do: one joiner
	// that keeps up gets all facts, and what it looks rows up in costs nothing elsewhere but the copy on the disk. Without the promise such
	// a joiner's share of the reference rows would be missing in the answers.
	ReferenceLater bool

	// Prune, which may be nil, drops rows that no query can need (see [fold.Table.Retain]) from the tables that a stream
	// completes, before they leave an aggregator for the reducer: what each partition can decide alone, as its own best rows of
	// a top k, or rows that have no partner in another table. It is called once in each aggregator when the stream has ended,
	// with the tables of that partition, indexed as Tables. Only those of the stream are complete and may be changed. Rows of
	// equal keys are in one partition, whatever the table, if their tables have the same kinds of keys; bags ([fold.Never]) are empty
	// here. An answer must not depend on
	// what Prune does: there are any number of partitions.
	Prune func(args Args, stream int, tables []*fold.Table) error

	// Reduce computes the rows of one query from the tables that Query.Tables names, in that order, complete and merged.
	// Rows are emitted in their final order; values are string, int64 or float64, one per column of the query.
	Reduce func(args Args, query int, tables []*fold.Table, emit func(row ...any)) error
}

// Param is a setting of an analysis with its default, as text.
type Param struct {
	Name    string
	About   string
	Default string
	Check   func(value string) error // nil accepts everything
}

// Stream is one input of an analysis.
type Stream struct {
	Name      string
	Reference bool              // reference streams are complete in every joiner before facts are read (R11)
	Files     string            // where the client finds it below the data directory: "*/trips.csv"; also packed
	Comma     byte              // separator; 0 means ','
	Columns   []Column          // CSV columns that are needed, found by name
	Schema    []batch.FieldSpec // typed columns of the batches the parser makes
}

// Column is a CSV column of a stream. The file may lack an Optional one; its field is then nil.
type Column = csv.Column

// Query is one answer of an analysis.
type Query struct {
	Name    string
	Columns []string
	Tables  []string // names of the tables it is computed from; it is answered when their streams have ended

	// Download is the column that holds the URL of a file that belongs to the answer, "" for none. Where a user asks for
	// it (--download DIR) the client fetches that of the first row; the engine never does.
	Download string
}

// File is one file of a stream.
type File struct {
	Name string   // path below the data directory, with slashes: "montreal/trips.csv" (".gz" removed)
	Tags []string // what each star of Stream.Files stands for: ["montreal"]
}

// Replica says which (counted from 0) of how many joiners this is, for analyses that emit rows of a reference stream, which every joiner
// has whole: one of them must.
type Replica struct{ Index, Of int }

// Position is where a batch starts in its file. Rows of a stream are totally ordered by (File, Line), however they
// arrive: "the first row wins" is decided by it.
type Position struct {
	File File
	Line uint64 // of the batch's first row, counted from 1 (the header) in the file; row i of the batch is after row i-1
}

// Joiner is the part of an analysis that lives in a joiner node, one for each session.
type Joiner interface {
	// Reference takes a batch of a reference stream. It is called again with the same batches after a crash, possibly in
	// another order: what it keeps must not depend on the order of batches (use pos). b is valid for the Joiner's life.
	// With Analysis.ReferenceLater it, and End behind it, may be called only when the first facts have come.
	Reference(stream int, b *batch.Batch, pos Position) error
	// Facts folds a batch of a fact stream. All reference streams have ended. b is valid during the call.
	Facts(stream int, b *batch.Batch, pos Position) error
	// End says that a stream has ended: all its rows have been here. It is where rows of a reference stream can be folded
	// whose winner is known only now. After a crash it is called again, behind the stream's batches.
	End(stream int) error
	// Flush adds what Facts (and Reference and End, where they emit) folded since the last Flush to the tables, indexed as
	// Analysis.Tables, and forgets it. The engine looks at the tables' errors.
	Flush(tables []*fold.Table) error
}

// StreamIndex returns the index of the stream called name, -1 if there is none.
func (a *Analysis) StreamIndex(name string) int {
	for i := range a.Streams {
		if a.Streams[i].Name == name {
			return i
		}
	}
	return -1
}

// TableIndex returns the index of the table called name, -1 if there is none.
func (a *Analysis) TableIndex(name string) int {
	for i := range a.Tables {
		if a.Tables[i].Name == name {
			return i
		}
	}
	return -1
}
