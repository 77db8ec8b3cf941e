package core

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/protocol"
)

// lane carries chunks to one input, one at a time, over a connection of its own.
type lane struct {
	id    uint32
	input *node
	conn  *conn
	stage laneStage
	chunk Chunk  // that is being carried
	file  File   // that the input reads, if seq is a file's number
	seq   uint64 // of the last chunk

	fileAt uint64 // how many bytes of the file are durable
	acked  uint64 // the last chunk that the input has acknowledged; pings say it (R14)
}

type laneStage int

const (
	drained laneStage = iota // it has nothing more of the stream to carry
	wanting                  // it waits for a chunk
	loaded                   // its chunk is on its way
)

// StreamProgress is what the cluster has acknowledged of a stream.
type StreamProgress struct {
	Chunks  uint64
	Bytes   int64 // of records
	InPlace int64 // those of them that inputs have read in place
	Ended   bool
	Took    time.Duration // from its beginning to its end at every input; 0 until then, and for one that ended before the session was resumed
}

// Upload sends every stream in the order the cluster gave, and waits after each until all of it is durable everywhere:
// reference streams end before facts begin (R11). The lanes' chunks are asked for by Output.Wants.
func (s *Session) Upload(now time.Time) {
	s.begin(upload, now)
	if s.lost != nil { // an input lost the session after it was opened
		s.end(s.lost)
		return
	}
	s.openLanes()
	if s.explain.of == nil { // else an input has forgotten the session since it was opened
		s.beginStream(0)
	}
}

// openLanes spreads the lanes over the inputs, at least one for each.
func (s *Session) openLanes() {
	n := min(max(s.cfg.Lanes, len(s.inputs)), protocol.MaxLanes)
	for i := range n {
		l := &lane{id: uint32(i), input: s.inputs[i%len(s.inputs)]}
		l.takeUp()
		l.conn = s.connect(l.input, l)
		s.lanes = append(s.lanes, l)
	}
}

func (s *Session) beginStream(i int) {
	for ; i < len(s.first.Streams) && s.hasEnded(i); i++ { // before the session was resumed
		s.streams[i].Ended = true
	}
	s.sending, s.begun, s.out.News = i, s.now, true
	if i == len(s.first.Streams) {
		s.phase = Uploaded
		s.end(nil)
		return
	}
	for _, l := range s.lanes {
		s.want(l)
	}
}

func (s *Session) want(l *lane) {
	l.stage, l.chunk, l.file = wanting, Chunk{}, File{}
	s.out.Wants = append(s.out.Wants, Want{Lane: int(l.id), Conn: l.conn.id, Stream: s.sending, Input: slices.Index(s.inputs, l.input)})
}

// Chunk gives a lane the chunk that it wanted. The first try uses up the lane's next number. Every further try sends the same chunk under
// that number, by which the input recognises it. A chunk for a lane that no longer wants one, because the session has ended, is ignored.
func (s *Session) Chunk(to int, p Chunk, now time.Time) {
	s.now = now
	l := s.lanes[to]
	if l.stage != wanting {
		return
	}
	l.seq++
	l.stage, l.chunk = loaded, p
	q := s.request(protocol.Chunk)
	q.Stream, q.Lane, q.Seq, q.File, q.Line, q.Header, q.Data = s.first.Streams[s.sending].Name, l.id, l.seq, p.File, p.Line, p.Header, p.Data
	q.At, q.Placed = p.At, true
	s.ask(l.conn, exchange{purpose: carrying, request: q, want: protocol.OK})
}

func (s *Session) carried(l *lane, reply protocol.Reply, err error) {
	if err == nil && (reply.Lane != l.id || reply.Seq != l.seq) {
		err = fmt.Errorf("%w: the answer is to chunk %d of lane %d", protocol.ErrInvalid, reply.Seq, reply.Lane)
	}
	if err != nil {
		s.refused(l.input, fmt.Errorf("upload %s: send %s from line %d to %s: %w", s.first.Streams[s.sending].Name, l.chunk.File, l.chunk.Line,
			l.input.endpoint, err))
		return
	}
	l.acked = l.seq
	p := &s.streams[s.sending]
	p.Chunks++
	p.Bytes += int64(len(l.chunk.Data))
	s.want(l)
}

// Drained reports that there are no more chunks for a lane: the stream has been read to its end.
func (s *Session) Drained(i int, now time.Time) {
	s.now = now
	if s.lanes[i].stage != wanting {
		return
	}
	s.lanes[i].stage = drained
	for _, l := range s.lanes {
		if l.stage != drained {
			return
		}
	}
	s.endStream()
}

// endStream tells every input that the stream has ended, and the number of each lane's last chunk. All chunks are acknowledged by now. The
// next stream begins when every input has answered, also those that heard of the end from a former client.
func (s *Session) endStream() {
	s.ending = len(s.inputs)
	for _, in := range s.inputs {
		q := s.request(protocol.End)
		q.Stream = s.first.Streams[s.sending].Name
		q.Lanes = s.numbers(in, func(l *lane) uint64 { return l.seq })
		s.askInput(in, exchange{purpose: ending, request: q, want: protocol.OK})
	}
}

func (s *Session) endedAt(in *node, err error) {
	stream := s.first.Streams[s.sending].Name
	if err != nil {
		s.refused(in, fmt.Errorf("end of %s: %w", stream, err))
		return
	}
	in.ended = stream
	if s.ending--; s.ending > 0 {
		return
	}
	p := &s.streams[s.sending]
	p.Ended, p.Took = true, s.now.Sub(s.begun)
	s.beginStream(s.sending + 1)
}
