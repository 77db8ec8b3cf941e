package core

import (
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/protocol"
)

// File is a file that an input reads in place (S8), or a part of one.
type File struct {
	File   string // below the data directory
	Header []byte // the file's header line
	Path   string // on the input's host
	From   uint64 // the byte at which the first record begins, and its line; in a file of columns the place of a part
	Line   uint64
	Stamp  protocol.Stamp
	Share  int64 // how many bytes of the file count as read when the part is
}

// FileEnd is what happened to a file that was given to a lane.
type FileEnd struct {
	Conn  ConnID
	Taken bool // the input has read all of it; if false it reads nothing of it, so another input may, or the client sends the file
}

// readWait is how long an input may wait for the end of a file before it tells how far it has come: people watch it (V1).
const readWait = 500 * time.Millisecond

// Roots returns the directories below which an input reads files in place. The parameter input is an index as in Want.Input.
func (s *Session) Roots(input int) []string { return s.states[input].Roots }

// ReadsColumns reports whether the input also reads parts of files of columns there.
func (s *Session) ReadsColumns(input int) bool { return s.states[input].ReadsColumns }

// Inputs is how many inputs have opened the session.
func (s *Session) Inputs() int { return len(s.states) }

// File gives a lane that wanted a chunk a file instead. The lane asks for nothing else until Output.Files tells what happened to the file.
func (s *Session) File(to int, f File, now time.Time) {
	s.now = now
	l := s.lanes[to]
	if l.stage != wanting {
		return
	}
	l.seq++
	l.stage, l.file, l.fileAt = loaded, f, f.From
	s.askToRead(l)
}

func (s *Session) askToRead(l *lane) {
	q := s.request(protocol.Read)
	q.Stream, q.Lane, q.Seq, q.File, q.Line, q.Header = s.first.Streams[s.sending].Name, l.id, l.seq, l.file.File, l.file.Line, l.file.Header
	q.Path, q.From, q.Stamp, q.Wait = l.file.Path, l.file.From, l.file.Stamp, min(readWait, s.cfg.Timeout/4)
	s.ask(l.conn, exchange{purpose: reading, request: q, want: protocol.OK})
}

// readAt takes what an input says of the file that it reads.
func (s *Session) readAt(l *lane, reply protocol.Reply, err error) {
	stream := s.first.Streams[s.sending].Name
	taken := err == nil && reply.Seq > 0
	if taken && (reply.Lane != l.id || reply.Seq != l.seq) {
		err = fmt.Errorf("%w: the answer is to chunk %d of lane %d", protocol.ErrInvalid, reply.Seq, reply.Lane)
	}
	part, end := protocol.ReadEnd(l.file.Header, l.file.From, l.file.Stamp.Size)
	if err == nil && (reply.At > end || taken && reply.At != end) {
		err = fmt.Errorf("%w: byte %d of a file of %d bytes", protocol.ErrInvalid, reply.At, end)
	}
	declined := errors.Is(err, protocol.ErrNotHere)
	if err != nil && !declined {
		s.refused(l.input, fmt.Errorf("upload %s: have %s read %s where it lies: %w", stream, l.input.endpoint, l.file.Path, err))
		return
	}
	p := &s.streams[s.sending]
	at := reply.At
	if whole := l.file.From + uint64(l.file.Share); part >= 0 && (taken || at > whole) {
		at = whole // the columns that came of the part are more or fewer bytes than it has in the file
	}
	if at > l.fileAt { // an older answer would report fewer bytes
		p.Bytes += int64(at - l.fileAt)
		p.InPlace += int64(at - l.fileAt)
		l.fileAt = at
	}
	if !taken && !declined {
		s.askToRead(l)
		return
	}
	if taken {
		p.Chunks++
	}
	l.acked = l.seq
	s.out.Files = append(s.out.Files, FileEnd{Conn: l.conn.id, Taken: taken})
	s.want(l)
}
