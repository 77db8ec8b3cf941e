// Package analyses defines what an analysis consists of: its parameters, its streams with their CSV columns, the tables it
// folds rows into, and one function per role. The engine runs any [Analysis] and knows nothing about bikes. The packages
// below this one are analyses, named for what they analyse.
//
// The life of a row, and what each role does with it:
//
//	parser      splits CSV and passes the wanted fields of a row to NewParser's function, which appends typed values to a
//	            batch. Without NewParser, the stream's schema determines how fields are read. If NewFolder returns a Folder
//	            for the stream, the parser also folds its rows, and the joiner only merges tables
//	joiner      NewJoiner's Joiner keeps what it needs of the reference streams and folds facts into tables
//	aggregator  merges tables, partitioned by key: the engine does this from the table's spec alone. If most rows of a
//	            partition are in no answer, Prune drops them before they travel on. If tables are joined by a key by which
//	            they are partitioned, Finish makes one table of them
//	reducer     has all partitions: Reduce turns tables into the rows of each query
//
// After a crash, the engine rebuilds everything that an analysis keeps between two calls: it calls Reference again with the
// same batches. Facts are folded and flushed within one commit and never kept. So an analysis needs no code for recovery, and
// none for the network.
//
// A program is the posta command with the analyses that it passes to cmd.Main; docs/adding-an-analysis.md walks through one.
// [Columns], [Integer] and [FoldFacts] keep simple analyses short.
package analyses

import (
	"slices"

	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

// MaxAsks is the largest size of Analysis.Asks, in bytes.
const MaxAsks = 1024

// Analysis describes one analysis. It is a value; the functions must be safe for concurrent sessions.
type Analysis struct {
	Name    string      // as in `posta run NAME`: lower case letters, digits, dashes
	About   string      // one line for people
	Params  []Param     // what a client may override
	Streams []Stream    // reference streams before fact streams, in the order clients send them
	Tables  []fold.Spec // what facts and reference rows are folded into
	Queries []Query     // in the order answers are printed

	// NewParser returns the function that turns rows of one file of a stream into typed columns of b. file.Tags holds what the
	// stars of the stream's Files pattern stood for. The function gets the wanted fields in the order of Stream.Columns (nil for
	// an absent optional one), unquoted; they are valid during the call. An error rejects the row (N7): the engine removes what
	// the call appended, and counts the row with file, line and the error's text. For ErrSkip the engine removes the row and
	// counts nothing. Only one goroutine at a time calls a function. Several functions may work on one file, so what they share
	// must not change. Without a NewParser, column i of the CSV becomes column i of the Schema, and a field that is not a number
	// where one is needed rejects its row.
	NewParser func(args Args, stream int, file File, b *batch.Builder) (func(fields [][]byte) error, error)

	// NewJoiner returns the joiner of one session in one node.
	NewJoiner func(args Args, replica Replica) (Joiner, error)

	// Reduce computes the rows of one query without Rows from the tables that Query.Tables names, in that order, complete and
	// merged. It runs in slices, so that no other session waits long: sorting a table, looking for rows and emit pause it now
	// and then. If it works long on something else, it calls [fold.Table.Pause] every few thousand rows. From equal tables it
	// emits the same rows in the same order every time. Rows are emitted in their final order; values are string, int64,
	// float64, bool or nil (NULL), one per column of the query.
	Reduce func(args Args, query int, tables []*fold.Table, emit func(row ...any)) error

	Faster
	Planned
}

// Faster is what an analysis may have beside what it needs. It makes the answer come sooner, and changes nothing of it.
type Faster struct {
	// NewRunParser, which may be nil, returns a function that does for a run of rows what the function of NewParser does for each of them, in
	// less time. It returns nil for a file whose rows are parsed one by one. The function reads the first rows of the run, and appends those
	// of them that are taken and not skipped to the columns of b. It stops before the first row that it cannot read, and leaves that row to
	// the other function.
	NewRunParser func(args Args, stream int, file File, b *batch.Builder) func(run *csv.Run) (read, taken int)

	// NewColumnParser does for columnar files what NewRunParser does for CSV.
	NewColumnParser func(args Args, stream int, file File, b *batch.Builder) func(run *columnar.Run) (read, taken int)

	// NewFolder, which may be nil, returns a Folder that folds the rows of a fact stream in the parser that has read them, so
	// only tables travel. It returns nil for a stream whose rows need a reference stream, or whose tables would have as many
	// rows as the stream. A parser has several folders of a stream, and each takes any of the stream's chunks, in any order.
	NewFolder func(args Args, stream int) (Folder, error)

	// ReferenceLater promises that only the first joiner (Replica.Index 0) emits rows that come from reference streams alone.
	// The engine then gives another joiner the reference streams only when its first facts come, and never if none come. Often
	// one joiner keeps up and gets all facts. The reference data then costs the other joiners only the copy on their disks.
	// Without the promise, the rows that such a joiner should emit from reference streams would be missing in the answers.
	ReferenceLater bool

	// Prune, which may be nil, drops rows that no query can need (see [fold.Table.Retain]) from the tables that a stream
	// completes, before the tables leave an aggregator for the reducer. Each partition decides alone: it keeps its own best rows
	// of a top k, say, or drops rows that have no partner in another table. It is called once in each aggregator when the stream
	// has ended, with the tables of that partition, indexed as Tables. Only those of the stream are complete and may be changed;
	// all others are empty here. Tables with the same kinds of keys have rows of equal keys in the same partition. Bags
	// ([fold.Never]) are empty, too. Prune runs in slices, as Reduce does. The answer must be the same with and without Prune,
	// and for any number of partitions.
	Prune func(args Args, stream int, tables []*fold.Table) error
}

// Planned is what only analyses have that are compiled from a plan, such as SQL. Others leave it empty.
type Planned struct {
	Asks    string // what the session asks, in one line of at most [MaxAsks] bytes; only if the analysis was compiled from a plan
	Outline string // Asks without its values, for people who may know that the session runs, but may not read its answer

	// Compile, if set, makes the analysis of one session from the plan that comes with it (see [Set.Open]). Of the other
	// fields, only Name and About are then set. For no plan may Compile take longer than a node may be busy with one frame.
	Compile func(plan []byte) (*Analysis, error)

	// Finish adds the rows of a table that aggregators make from other tables ([fold.Spec.From]), when these are complete. It is
	// called in each aggregator, for one part of the rows after the other. Rows that are equal in the keys by which they are
	// partitioned ([fold.Spec.PartitionBy]) are in the same part. In tables, indexed as Tables, the source tables have the rows of
	// this part, and all others are empty except the table itself, to which Finish adds rows. Finish calls full every few thousand
	// rows that it has added; the table may be empty after that, because its rows have been sent. Finish runs in slices, as Reduce
	// does. From equal tables it makes the same rows in the same order every time.
	Finish func(args Args, table int, tables []*fold.Table, full func()) error

	// Moves, if set, reports whether Reduce reads a table from files, too ([fold.Table.Moved]). A reducer moves such tables there if they
	// take much memory, and has all others in memory.
	Moves func(table int) bool
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
	Files     string            // where the client finds its files below the data directory: "*/trips.csv"; they may be packed
	Comma     byte              // separator; 0 means ','
	Columns   []Column          // CSV columns that are needed, found by name
	Schema    []batch.FieldSpec // typed columns of the batches the parser makes

	PlannedStream
}

// PlannedStream is what only the streams of analyses have that are compiled from a plan.
type PlannedStream struct {
	Form csv.Form // for clients: what the files are that are CSV, if they are not CSV with a header

	// Parties, which may be empty, share the rows of the stream, and each rejects rows only for itself, as the statements of a SQL
	// session do. A row that one party's parser rejects still goes to the other parties. The rows that a party rejects are counted
	// under its name. There are at most [MaxParties].
	Parties []Party

	// Skips, which may be nil, reports whether the parser skips every row (ErrSkip) whose Columns are within these ranges. Some
	// formats, such as Parquet, store such ranges for parts of a file. A part for which Skips returns true is not read.
	Skips func(ranges []Range) bool

	// Tests are conditions on single columns. Rows that fail one of them add nothing to any answer, and neither do their other columns. No
	// row of the stream may then be rejected. Formats that store columns apart, such as Parquet, read most columns of other rows only.
	Tests []columnar.Test

	// Lines, which may be nil, returns the lines of a file of which rows are wanted, in ascending order; all is true if all are wanted.
	// Formats that find a row by its line, such as Parquet, read no other rows.
	Lines func(file string) (lines []uint64, all bool)
}

// MaxParties bounds the parties of a stream: each of them is a bit of [Missing].
const MaxParties = 63

// Party reads some columns of a stream, and rejects or skips rows as if it were alone.
type Party struct {
	Name      string            // its rejected rows are counted under this name, which no other party or stream of the analysis has
	Query     string            // the query that it belongs to
	Columns   []Column          // the columns that it reads, all of them columns of the stream
	Schema    []batch.FieldSpec // typed columns that its parser appends, which are discarded
	NewParser func(file File, b *batch.Builder) func(fields [][]byte) error
}

// Missing says which parties have rejected or skipped a row: bit i is set for party i.
type Missing uint64

// Column is a CSV column of a stream. The file may lack an Optional one; its field is then nil.
type Column = csv.Column

// Range is what a file says about the values of a column in some of its rows.
type Range = csv.Range

// Query is one answer of an analysis.
type Query struct {
	Name    string
	Columns []string
	Tables  []string // names of the tables it is computed from; it is answered when their streams have ended

	// Download is the column that holds the URL of a file that belongs to the answer; "" if there is none. If the user asks
	// for it (--download DIR), the client fetches the URL of the first row. The engine never fetches it.
	Download string

	// Rows, if set, replaces Reduce for a query whose answer may have any length. It turns rows of the query's only table into
	// rows of the answer. What it makes of a row depends on nothing else: it is called with some rows of the table at a time. The
	// answer is sorted by its first column, ascending, then by the second, and so on, unless Order is set. Texts are compared by
	// bytes, and all values of a column are of one kind. The engine passes such rows on as they come, and sorts them on disks; no
	// process ever holds all of them. The table serves no other query. Each of its keys is in one aggregator, so it is not one of
	// those that aggregators make ([fold.Spec.From]) unless it is a bag.
	Rows func(args Args, t *fold.Table, emit func(row ...any)) error

	// Order, which may be empty, describes the values of a row that Rows emits, one after the other; rows are sorted by them in
	// this sequence. Values with a Column below 0 are not shown. Each column of the query is the Column of exactly one value.
	Order []Order
}

// Order describes a value of a row that is sorted.
type Order struct {
	Column     int // of the answer, in which the value is shown; below 0: in none
	Desc       bool
	NullsFirst bool
}

// RowsQuery returns the index of the query whose Rows reads a table, -1 if there is none.
func (a *Analysis) RowsQuery(table int) int {
	for i := range a.Queries {
		if q := &a.Queries[i]; q.Rows != nil && table < len(a.Tables) && q.Tables[0] == a.Tables[table].Name {
			return i
		}
	}
	return -1
}

// File is one file of a stream.
type File struct {
	Name string   // path below the data directory, with slashes: "montreal/trips.csv" (".gz" removed)
	Tags []string // what each star of Stream.Files stands for: ["montreal"]

	// Line returns the line of the row that a parser's function is called with; it is valid during that call. It is set only in NewParser.
	Line func() uint64

	// Quoted is the set of fields that are in quotes in the row that a parser's function is called with; an empty one is not NULL then. In a
	// columnar file it is the set of empty texts. It is set only in NewParser.
	Quoted *csv.Bits

	// Missing points to the set of parties that do without the row that a parser's function is called with. If the set is not
	// empty, a party has rejected the row. The function then takes the row for the other parties, and the fields that it cannot
	// read belong to none of them. Missing is set only in NewParser, and only for a stream with parties.
	Missing *Missing

	// Cells gives a parser's function values instead of texts if the file is columnar. It makes parsers fast over such files: a
	// value that is read from Cells is not turned into text. All others are texts in fields. Cells is set only in NewParser, and
	// only for columnar files.
	Cells *columnar.Cells
}

// Replica identifies a joiner: its number, counted from 0, and the number of joiners. It is for analyses that emit rows of a
// reference stream: every joiner has the whole stream, and exactly one of them must emit a row.
type Replica struct {
	Index, Of int
	Memory    int // limits.memory: how many bytes what it makes for one session may take; 0: no limit
}

// Position is where a batch starts in its file. Rows of a stream are totally ordered by (File, Line), in whatever order they
// arrive. This order decides rules such as "the first row wins".
type Position struct {
	File File
	Line uint64 // of the batch's first row, counted from 1 (the header) in the file; row i of the batch is after row i-1
}

// Joiner is the part of an analysis that lives in a joiner node, one for each session.
type Joiner interface {
	// Reference takes a batch of a reference stream. After a crash it is called again with the same batches, possibly in another
	// order. So what the Joiner keeps must not depend on the order of batches (use pos). b is valid for the Joiner's life. With
	// Analysis.ReferenceLater, the calls of Reference and of End for these streams may be delayed until the first facts come.
	Reference(stream int, b *batch.Batch, pos Position) error
	// Facts folds a batch of a fact stream. By then all reference streams have ended. b is valid during the call.
	Facts(stream int, b *batch.Batch, pos Position) error
	// End says that a stream has ended: the Joiner has got all its rows. If a Joiner must see all rows of a reference stream
	// to know which one wins, it folds them here. After a crash End is called again, after the stream's batches.
	End(stream int) error
	// Flush adds what was folded since the last Flush to the tables, indexed as Analysis.Tables, and forgets it. Facts folds,
	// and so may Reference and End. The engine checks the tables' errors.
	Flush(tables []*fold.Table) error
}

// Forker is a Joiner that lets several goroutines fold a fact stream. The engine uses it where the parser and the joiner share
// a process: rows are then not encoded between the two, and chunks are folded in parallel.
type Forker interface {
	// Fork returns a joiner that folds facts of a stream as this one would. It returns nil if the facts should come to this one.
	// It is called when all reference streams have ended. The engine calls only Facts and Flush of a fork. One goroutine at a
	// time uses a fork, while other goroutines use its siblings and the Joiner itself, so what they share must not change any
	// more. If a fork's Facts fails, the engine drops the fork and gives its batch to the Joiner, which finds the same error. If
	// Fork fails, the Joiner gets the batch, too. A fork's Flush may add to the Joiner that it is a fork of in place of the tables:
	// one goroutine calls the Flush of all of them, and that of the Joiner afterwards.
	Fork(stream int) (Joiner, error)
}

// Slicer is a Forker that knows whether its batches may take long, because a join makes many rows of each row, or a function works long on
// a value. The engine then computes them in slices, with the work of other sessions in between.
type Slicer interface {
	Forker
	// ForkSliced is Fork for a stream whose batches may take long. The fork, and the call itself, call pause every few milliseconds. It
	// returns nil if no batch of the stream takes long.
	ForkSliced(stream int, pause func()) (Joiner, error)
}

// Folder folds the rows of a fact stream where they are parsed. It is used by one goroutine at a time.
type Folder interface {
	// Fold returns tables, indexed as Analysis.Tables. They hold what a Joiner's Facts and Flush would have made of the rows in
	// b. The tables are valid until the next call. It returns false if the rows should travel to a joiner unfolded, because
	// there are hardly fewer groups than rows, or because a row fails. In the latter case the joiner finds the same error, so
	// that errors have one place and one form.
	Fold(b *batch.Builder, pos Position) (tables []*fold.Table, folded bool)
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

// MadeOf returns the indexes of the tables from which aggregators make table i, none if joiners fill it.
func (a *Analysis) MadeOf(i int) (from []int) {
	if i < len(a.Tables) {
		for _, name := range a.Tables[i].From {
			from = append(from, a.TableIndex(name))
		}
	}
	return from
}

// Stays reports whether the rows of table i stay in the aggregators, which make another table from them.
func (a *Analysis) Stays(i int) bool {
	return i < len(a.Tables) && slices.ContainsFunc(a.Tables, func(t fold.Spec) bool { return slices.Contains(t.From, a.Tables[i].Name) })
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
