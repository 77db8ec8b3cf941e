package protocol

import (
	"cmp"
	"time"

	"posta.dev/posta/protocol/session"
)

// ReplyType is the type of a reply.
type ReplyType string

// The replies.
const (
	OK      ReplyType = "ok"
	Opened  ReplyType = "opened"
	Parts   ReplyType = "results"
	Listed  ReplyType = "sessions"
	About   ReplyType = "info"
	Refused ReplyType = "error"
)

// Reply is any reply; Type decides which fields are used.
type Reply struct {
	Type ReplyType

	Lane uint32 // ok to a chunk or a read
	Seq  uint64 // ok to a chunk: the chunk is durable; ok to a read: all of the file is durable, or 0 while the input still reads
	At   uint64 // ok to a read: all bytes of the file before this one are durable

	State  session.State // ok to a ping, opened, results
	Reason string        // with state failed; ok to a ping, with state running: why nothing is taken now

	Inputs  []string // opened, info, error wrong_node: endpoints of all inputs, in the order to open in
	Outputs []string // opened, info, error wrong_node: endpoints of all outputs

	// The names of the nodes behind Inputs and Outputs, in the same number and order; empty if the cluster does not send them. An address
	// cannot serve as a name, because address translation changes it.
	InputNodes, OutputNodes []string

	Chunk         int             // opened: bytes of records that a chunk should have
	Frame         int             // opened: bytes that a request may have; 0: the cluster does not say
	ClientTimeout time.Duration   // opened: how long a client may be silent while it uploads before its session ends
	Streams       []Stream        // opened, in the order to send them
	Queries       []string        // opened, in the order to print them
	Lanes         []LaneSeq       // opened: what this input has already accepted; empty for a new session
	Ended         []string        // opened: streams that have ended at this input
	Openers       session.Openers // opened: who has opened the session so far, the client of this request last (R17)
	Roots         []string        // opened: directories below which this input reads files in place (S8)
	ReadsColumns  bool            // opened: there it also reads parts of files of columns
	Ranges        []FileRanges    // opened: what this input has accepted of each file; nil if Lanes has chunks whose places it does not know

	Parts    []Part // results, by increasing N
	Complete bool   // results: no more parts follow ("done" on the wire)

	Sessions []SessionInfo // sessions

	Cluster  string // info
	Node     string // info, sessions
	Version  string // info: of the program
	Analyses []AnalysisInfo

	Err Error // error; with state failed its Code (empty: ErrFailed) and its Fields, and Reason is the message
}

// Failure returns the error in an error reply, nil for any other reply.
func (p *Reply) Failure() error {
	if p.Type != Refused {
		return nil
	}
	e := p.Err
	return &e
}

// SessionFailure returns why the session failed, with state failed.
func (p *Reply) SessionFailure() *Error {
	return &Error{Code: cmp.Or(p.Err.Code, ErrFailed), Message: p.Reason, Fields: p.Err.Fields}
}

// Refuse returns a reply with an error.
func Refuse(code Code, message string) Reply {
	return Reply{Type: Refused, Err: Error{Code: code, Message: message}}
}

// RefuseFor returns a reply with an error and what is known of it.
func RefuseFor(code Code, err error) Reply {
	return Reply{Type: Refused, Err: Error{Code: code, Message: err.Error(), Fields: FieldsOf(err)}}
}

// FileRanges is what an input has accepted of one file.
type FileRanges struct {
	Stream string
	File   string  // its name, as in a chunk
	Header uint32  // CRC32C of the header in its chunks
	Taken  []Range // sorted by From; no two touch
}

// Range is a piece of a file's records: the bytes from From up to, but not including, To, counted as Request.At is. Sum is their CRC32C.
type Range struct {
	From, To uint64
	Sum      uint32
}

// Stream tells a client what to send.
type Stream struct {
	Name      string
	Reference bool   // it ends before the first fact is sent
	Files     string // pattern below the data directory: "*/trips.csv"; clients also look for packed files
	Comma     byte   // separator of fields; 0 means ','
}

// Part is a piece of an answer: rows of one query, or, with an empty Query, the rejected rows.
type Part struct {
	N        uint64 // from 1, at this output
	Query    string
	Columns  []string
	Offset   uint64 // how many rows of the query come before these
	Rows     Rows
	Last     bool // whether it is the last part of its query
	Rejected []Rejected
}

// Rejected is the number of rows of a stream that were skipped (N7), with the first of them.
type Rejected struct {
	Stream string
	Rows   uint64
	First  []RejectedRow
}

// RejectedRow is one rejected row.
type RejectedRow struct {
	File   string
	Line   uint64
	Reason string
}

// SessionInfo is one line of a list of sessions.
type SessionInfo struct {
	Session  session.ID
	Analysis string
	Owner    string // name of the client that the session belongs to; empty for the local operator
	State    session.State
	Node     string
	Age      time.Duration // since it was opened
	Bytes    uint64        // of CSV accepted at this node
	Rows     uint64        // accepted at this node
	Asks     string        // the question, shortened; empty if the analysis' name says everything, or if the node has restarted since

	// How many bytes of its files the session's client has read, out of how many, and how long the rest will take. At inputs, while the client
	// tells it; FilesSize is 0 otherwise. FilesLeft is 0 if it is not known. The unit is the client's, so these differ from Bytes.
	FilesRead, FilesSize uint64
	FilesLeft            time.Duration
}

// AnalysisInfo describes an analysis to people.
type AnalysisInfo struct {
	Name    string
	About   string
	Params  []ParamInfo
	Streams []Stream
	Queries []string
}

// ParamInfo is a parameter of an analysis.
type ParamInfo struct {
	Name    string
	Default string
	About   string
}
