// Package format says what a file format is. Each format has a package beside this one, and one line in the table of package source.
//
// A client asks the formats of the table in turn whether a file is theirs (Detect). Then it either samples the file, to learn its columns
// (Columns) and some rows, or sends it: Cut turns it into chunks of whole rows, which are CSV with a header (package rows/csv) or columns
// (package rows/columnar). Nodes know only these two; inputs that read a Parquet file in place cut it as clients do.
//
// Before a format is asked, the client has unpacked the file, brought it to UTF-8 and looked at its first line (package text). A format
// whose files are read at any place gets them as they are.
package format

import (
	"errors"
	"io"
	"sync/atomic"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client/source/text"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// Format is how rows are written in a file.
type Format interface {
	// Name is what people call it.
	Name() string

	// Endings are the endings of names that promise the format and fit a pattern of ".csv" files. CSV itself has none.
	Endings() []string

	// Anywhere reports whether a file is read at any place, its end first. It cannot be read packed then, and from a pipe or another machine
	// only when all of it is on the disk.
	Anywhere() bool

	// Detect reports whether a file has the format, by its Head: the first HeadBytes, or what there is, if it is read anywhere; otherwise at
	// least the first line. An error is about a file that should have the format, or looks like it, and cannot be read.
	Detect(in *File) (bool, error)

	// Columns returns what columns a file has, for statements. It may look at about so many bytes of the beginning. Cut can be called
	// afterwards.
	Columns(in *File, bytes int) (Columns, error)

	// Cut begins to cut a file.
	Cut(in *File, want *Want) (Cutter, error)
}

// HeadBytes is by how many bytes files are recognised that are read anywhere.
const HeadBytes = 4

// Knowing is implemented by formats whose files say what values columns have.
type Knowing interface {
	// Known returns how many rows a file has, and what it says about columns; ok is false if it lacks one of them.
	Known(in *File, columns []csv.Column) (rows int64, known []csv.Known, ok bool, err error)
}

// Foreseeing is implemented by formats whose files say, without being unpacked, which of their rows need not be read.
type Foreseeing interface {
	// Foresee returns what a cutter would read of a file.
	Foresee(in *File, want *Want) (Share, error)
}

// Share is how much is read of files. It is no more than an estimate, because a file may say anything.
type Share struct {
	Groups, Read int   // row groups, and those of them that are read
	Bytes        int64 // of the needed columns in these, unpacked
}

// Add adds the share of other files.
func (s *Share) Add(of Share) {
	s.Groups, s.Read, s.Bytes = s.Groups+of.Groups, s.Read+of.Read, s.Bytes+of.Bytes
}

// File is a file of one format.
type File struct {
	*text.File                // its text; of a file that is read anywhere there is only Head
	At         Located        // set only if the file is read anywhere
	Named      bool           // its name promises the format
	Pieces     func() []Piece // from other places than the beginning, for Columns; nil if the file's bytes are not its text
	Count      *atomic.Int64  // where bytes are counted that are read at any place; nil if nothing counts them
}

// Piece is some whole lines of a file. If rows have line ends in them, the first and the last line may be parts of rows.
type Piece struct {
	Lines []byte
	At    int64 // where they begin in the file
}

// Located is a file that can be read at any place.
type Located interface {
	io.ReaderAt
	Size() int64
	// Unchanged returns an error if the file became another one since it was opened.
	Unchanged() error
}

// Columns are the columns of a file. The zero value says that the header of the cutter names them, and that samples show their types.
type Columns struct {
	Declared bool     // the file says what Typed and Rows have, so no rows are sampled
	Typed    []Column // names differ without regard to case
	Rows     int64    // how many rows there are

	Keys []string // by which rows name their values; a cutter finds them by csv.Column.Key
}

// Column is a column whose type the file declares.
type Column struct {
	Name  string
	Type  types.Type // types.Null for a column that is not read
	Why   string     // why it is not read; else ""
	Bytes int64      // of its values in the file, unpacked, as the file says
}

// ErrNoColumns is returned by Cut if the needed columns are not known, and the format does not do without.
var ErrNoColumns = errors.New("this is not CSV, and which columns the analysis needs is not known to this program: run it with the " +
	"program of the cluster, or export the file as CSV")

// Want says what is wanted of a file.
type Want struct {
	Columns    []csv.Column // that are needed; nil if they are not known
	Comma      byte         // the stream's separator; 0 means ','
	ChunkBytes int
	MaxRecord  int
	Room       int      // bytes that are left free in front of each chunk
	Form       csv.Form // of a file of CSV

	Skips  func([]csv.Range) bool                                     // which parts need not be read; may be nil
	Tests  []columnar.Test                                            // which rows count; others may be left out, or lack values
	Lines  []uint64                                                   // of which rows are wanted, in ascending order; nil: all
	Note   func(text string)                                          // is told what is unusual
	Limits func(header []byte) (chunkBytes, maxRecord int, err error) // for a file with this header
	Sent   func(header []byte) error                                  // returns an error if chunks with another header were sent before
}

// Cutter cuts a file into chunks of whole rows, as [csv.Cutter] does. If it also has the method Rows, a file with rows may have no chunk.
type Cutter interface {
	Header() ([]byte, error)
	Limit(chunkBytes, maxRecord int)
	Next(buf []byte) (chunk []byte, firstLine uint64, err error)
}

// Part is a part of a file, from which several readers may cut chunks at once: no chunk has rows of two parts, and where chunks end in one
// depends on nothing in another.
type Part struct {
	Number int
	Line   uint64 // of its first row
	Rows   int64
	Empty  bool // it has no chunk
}

// Parted is implemented by cutters of files that have parts.
type Parted interface {
	Cutter
	// Parts returns the parts of the file.
	Parts() []Part
	// Part returns a cutter for the chunks of one part, which are those that this one would cut there. Both may be used at the same time. It
	// has to be called before this one has cut anything.
	Part(number int) (Parted, error)
	// InPart returns the part of the last chunk.
	InPart() int
	// Memory estimates how many bytes a cutter of a part has in memory at once, at most.
	Memory(number int) int64
}

// InPlace is implemented by cutters whose chunks are the file's own bytes, so that an input can read the file where it lies.
type InPlace interface {
	Cutter
	// Place returns where the next chunk begins; ok is false if chunks are not the file's bytes after all.
	Place() (from int64, line uint64, ok bool)
}
