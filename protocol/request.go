package protocol

import (
	"time"

	"posta.dev/posta/protocol/session"
)

// Ask is the type of a request.
type Ask string

// The requests. Hold is for who changes the cluster. Info and sessions are answered by every node, the others by inputs, outputs or both (see docs/protocol.md).
const (
	Open     Ask = "open"
	Chunk    Ask = "chunk"
	End      Ask = "end"
	Ping     Ask = "ping"
	Results  Ask = "results"
	Cancel   Ask = "cancel"
	Close    Ask = "close"
	Sessions Ask = "sessions"
	Info     Ask = "info"
	Hold     Ask = "hold"
)

// Request is any request; which fields count is decided by Type.
type Request struct {
	Type    Ask
	Session session.ID // all but sessions, info and hold

	Analysis string            // open
	Params   map[string]string // open: what differs from the defaults

	Stream string // chunk, end

	Lane   uint32 // chunk: below MaxLanes
	Seq    uint64 // chunk: from 1, without holes, per (session, lane) at one input, over all streams
	File   string // chunk: path below the data directory with slashes, without ".gz"
	Line   uint64 // chunk: line of the file on which the first record starts; the header is on line 1
	Header []byte // chunk: the file's header line
	Data   []byte // chunk: whole records

	Lanes []LaneSeq // end: the last sequence number of every lane at this input that sent anything so far

	After uint64        // results: the last part the client has, 0 at first
	Wait  time.Duration // results: how long the node may wait for something new; milliseconds on the wire

	Lease time.Duration // hold: how long no session is opened, at most LongestHold; 0 ends it
}

// LaneSeq is a lane and the last sequence number sent or accepted on it.
type LaneSeq struct {
	Lane uint32
	Seq  uint64
}
