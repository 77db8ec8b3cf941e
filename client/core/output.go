package core

import (
	"time"

	"posta.dev/posta/protocol"
)

// ConnID numbers the connections of a session, from 0.
type ConnID int

// Output is what is to be done after an event, in the order of the fields. It is valid until the next event.
type Output struct {
	Dials    []Dial    // connections to open
	Drops    []ConnID  // tries to give up, each with its connection, so that a late answer finds nobody
	Requests []Request // to send; each takes the place of what is under way on its connection, as if that were in Drops
	Wants    []Want    // lanes that wait for Chunk or Drained
	News     bool      // Pending, Rows, Told or Listed may say something else than before
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
}

// Chunk is whole records of one file.
type Chunk struct {
	File   string // below the data directory
	Header []byte // the file's header line
	Line   uint64 // on which the first record begins
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

// Output returns what the last events have come to, and forgets it.
func (s *Session) Output() Output {
	o := s.out
	s.out, s.former = Output{Dials: s.former.Dials[:0], Drops: s.former.Drops[:0], Requests: s.former.Requests[:0], Wants: s.former.Wants[:0]}, o
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
