package core

import (
	"time"

	"posta.dev/posta/protocol"
)

// ConnID numbers the connections of a session, from 0.
type ConnID int

// Output is what the caller has to do after an event, in the order of the fields. It is valid until the next event.
type Output struct {
	Dials    []Dial    // connections to open
	Drops    []ConnID  // tries to give up; each closes its connection, so that a late answer is never received
	Requests []Request // to send; each replaces the try under way on its connection, which is given up as if it were in Drops
	Files    []FileEnd // what happened to files that were given to lanes
	Wants    []Want    // lanes that wait for Chunk, File or Drained
	News     bool      // Pending, Rows, Told or Listed may have changed
}

// Dial is a connection to open.
type Dial struct {
	Conn     ConnID
	Endpoint string
}

// Request is one try.
type Request struct {
	Conn    ConnID
	Try     uint64           // Reply and Broken name it
	Again   bool             // it is the request that was tried before on this connection, byte for byte
	Message protocol.Request // its Data belongs to the session until the lane's chunk is acknowledged
}

// Want is a lane that waits for a chunk of a stream.
type Want struct {
	Lane   int
	Conn   ConnID
	Stream int // index in Opened().Streams
	Input  int // index of the lane's input; see Roots
}

// Chunk is whole records of one file.
type Chunk struct {
	File   string // below the data directory
	Header []byte // the file's header line
	Line   uint64 // of the file, on which the first record begins
	At     uint64 // how many bytes of the file's records come before this chunk
	Data   []byte
}

// Rows are rows of one query, or, where Query is empty, the rows that were rejected.
type Rows struct {
	Query    string
	Columns  []string
	Rows     protocol.Rows
	Last     bool // of the query
	Rejected []protocol.Rejected
}

// Output returns what the events since the last call require, and clears it.
func (s *Session) Output() Output {
	o := s.out
	s.out, s.former = Output{Dials: s.former.Dials[:0], Drops: s.former.Drops[:0], Requests: s.former.Requests[:0], Files: s.former.Files[:0],
		Wants: s.former.Wants[:0]}, o
	return o
}

// Alarm returns when Tick is due; the zero time for never.
func (s *Session) Alarm() (at time.Time) {
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	for _, c := range s.conns {
		if c.busy() {
			sooner(c.deadline)
		}
	}
	for _, in := range s.inputs {
		if !in.conn.busy() {
			sooner(in.pingAt)
		}
	}
	sooner(s.pauseUntil)
	sooner(s.lostAt)
	sooner(s.explain.until)
	sooner(s.explain.again)
	sooner(s.tell.until)
	return at
}
