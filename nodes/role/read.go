package role

import (
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// ReadID names a read of a file where it lies, for a gateway (S8). It is valid until the node's process ends; after a restart the same read
// has another id.
type ReadID uint64

// Read is a file that a gateway wants to be read now. The shell (or the simulator) reads it, piece by piece from From on, and hands in the
// pieces in order. It may read ahead as far as it likes: after a crash, whatever was read and not taken is read again.
type Read struct {
	ID        ReadID
	Session   session.ID
	Stream    int
	Reference bool
	Of        *analyses.Stream
	File      string // as clients name it
	Header    []byte // the file's header record, perhaps with a mark (csv.Marked)
	Part      int    // of a file that has columns; -1 of other files, which are read to their end
	Path      string
	Stamp     protocol.Stamp // the file as the client saw it; if it has changed, that is an error
	From      int64          // the first byte that was not taken, or its place among the records of a file of columns (protocol.PartBits)
	To        int64          // where the file ends, or the part
	Line      uint64         // that From is in; only of text
	Chunk     int            // bytes of records that a piece should have
	MaxRecord int            // bytes that a record may have
}

// Piece is what was read of a file.
type Piece struct {
	Read      ReadID
	Session   session.ID
	Stream    int
	Reference bool
	From      int64
	To        int64 // the first byte after the piece; Line is its line
	Line      uint64
	Chunk     *Chunk // nil behind the records of a part or of a file without any, and with an error
	Err       error  // no piece follows it
}

// FileReader is a gateway that has files read.
type FileReader interface {
	// Reads returns the files that are to be read now. A file that is no longer among them is read no further.
	Reads() []Read
	// TakePiece takes a piece. A piece of a read that is not under way is taken and dropped. It returns false if there is no room yet (R9);
	// the piece is then offered again.
	TakePiece(now time.Time, p *Piece) (taken bool)
}
