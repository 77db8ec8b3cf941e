package sim

import (
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// speech checks a client's requests against the replies that it got. The cluster notices most mistakes of a client and
// fails the session, but only these checks show that the client is to blame.
type speech struct {
	c      *client
	opened map[*node]bool          // inputs that have answered that the session is open, or was
	alive  map[*node]time.Duration // inputs where it is open, with the time of the client's last request to them
	said   map[uint32]chunkSaid    // the last chunk of each lane
	acked  map[uint32]uint64       // number of the last acknowledged chunk of each lane
	ended  map[*node]string        // the last stream whose end the input has acknowledged
	others protocol.Code           // what the client heard about a session that belongs to another client
	later  map[*node]time.Duration // when an input last replied that the open came too early
	parts  map[*node]partsGiven
}

// chunkSaid is a chunk as it was first sent.
type chunkSaid struct {
	to  *node
	seq uint64
	sum uint32 // a hash of everything but the number
}

func newSpeech(c *client) *speech {
	return &speech{c: c, opened: map[*node]bool{}, alive: map[*node]time.Duration{}, said: map[uint32]chunkSaid{}, acked: map[uint32]uint64{},
		ended: map[*node]string{}, later: map[*node]time.Duration{}, parts: map[*node]partsGiven{}}
}

// hears notes a reply to the current attempt.
func (s *speech) hears(from *node, q *protocol.Request, reply *protocol.Reply) {
	switch reply.Err.Code {
	case protocol.ErrInUse, protocol.ErrFinished:
		// An output that has not heard of a takeover yet considers the new client a stranger. The inputs have accepted it.
		behind := q.Type == protocol.Results && len(s.opened) == len(s.c.inputs)
		// Inputs after the first one delay a takeover until the former client was silent for them, too. The first input has already decided whose
		// session it is, so a client that gives up meanwhile cancels its own session.
		waits := q.Type == protocol.Open && reply.Err.RetryAfter > 0 && s.opened[s.c.inputs[0]]
		// An input that has lost its log may have opened the session again, for a client that takes it over. The other inputs know whose session
		// it was.
		forgot := q.Type == protocol.Ping && s.c.w.losses > 0 && len(s.opened) == len(s.c.inputs)
		if !behind && !waits && !forgot {
			s.others = reply.Err.Code
		}
	case protocol.ErrSuperseded:
		s.others = reply.Err.Code
	}
	if q.Type == protocol.Open && reply.Err.RetryAfter > 0 {
		s.later[from] = s.c.w.At
	}
	switch {
	case reply.Type == protocol.Opened:
		s.others = "" // the session was taken over
		s.tookUp(from, reply)
		if s.c.takeover {
			s.c.w.momentOf(atTakeover, from, nil)
		}
		if s.opened[from] = true; reply.State == session.Running {
			s.alive[from] = s.c.w.At
		}
	case q.Type == protocol.Ping && (reply.State == session.Failed || reply.Err.Code == protocol.ErrFailed ||
		reply.Err.Code == protocol.ErrCancelled):
		delete(s.alive, from) // the input has reported that the session is over; now the client waits for the outputs
	case reply.Type == protocol.OK && q.Type == protocol.Chunk,
		q.Type == protocol.Read && (reply.Seq > 0 || reply.Err.Code == protocol.ErrNotHere):
		s.acked[q.Lane] = q.Seq
	case reply.Type == protocol.OK && q.Type == protocol.End:
		s.ended[from] = q.Stream
	case reply.Type == protocol.Parts:
		s.given(from, reply.Parts)
	}
}

// partsGiven is what an output has delivered of the answer: the number of the last part, and how many rows of each query.
type partsGiven struct {
	last uint64
	rows map[string]uint64
}

// given checks that an output gives the rows of each query in order and once. The client itself would skip rows that it
// has, because after the loss of an output another one begins with the first row again. So without this check a reducer
// that answers twice would not be noticed.
func (s *speech) given(out *node, parts []protocol.Part) {
	have, ok := s.parts[out]
	if !ok {
		have.rows = map[string]uint64{}
	}
	for i := range parts {
		p := &parts[i]
		if p.N <= have.last {
			continue // the request was repeated
		}
		if p.Query != "" && p.Offset != have.rows[p.Query] && s.c.w.losses == 0 {
			s.c.w.fail("D1: part %d of %s begins at row %d of query %s, and it has given %d rows of it", p.N, out.id, p.Offset, p.Query,
				have.rows[p.Query])
		}
		have.last = p.N
		have.rows[p.Query] += uint64(p.Rows.Len())
	}
	s.parts[out] = have
}

// says checks a request of the client.
func (s *speech) says(to *node, q *protocol.Request, again bool) {
	if _, open := s.alive[to]; open && q.Token == s.c.token {
		s.alive[to] = s.c.w.At
	}
	rule, wrong := "", ""
	switch q.Type {
	case protocol.Open:
		rule, wrong = s.open(to)
		if q.Takeover {
			s.c.w.momentOf(atTakeover, to, nil)
		}
	case protocol.Chunk, protocol.Read:
		rule, wrong = s.chunk(to, q)
	case protocol.End:
		rule, wrong = s.end(to, q)
	case protocol.Ping:
		if !again { // a repeated request has the same content
			rule, wrong = s.ping(to, q)
		}
	case protocol.Cancel, protocol.Close:
		if s.others != "" {
			rule, wrong = "R17", "heard that the session is another client's: "+string(s.others)
		}
	}
	if wrong != "" {
		s.c.w.fail("%s: client %s says %s to %s, but %s", rule, s.c, q.Type, to.id, wrong)
	}
}

// open checks an open request: the first input decides which client is admitted, so it comes first. If an input asks for a delay, the
// client does not ask again at once, however little time is left.
func (s *speech) open(to *node) (rule, wrong string) {
	if later, ok := s.later[to]; ok && s.c.w.At-later < 5*time.Millisecond {
		return "N10", fmt.Sprintf("it has answered %v ago that it is too early", s.c.w.At-later)
	}
	for _, in := range s.c.inputs {
		if in == to || s.c.rewired { // the client may have learned about other inputs
			break
		}
		if !s.opened[in] {
			return "R17", string(in.id) + " comes before it and has not opened the session"
		}
	}
	return "", ""
}

func (s *speech) chunk(to *node, q *protocol.Request) (rule, wrong string) {
	last, now := s.said[q.Lane], chunkSaid{to, q.Seq, sumOf(q)}
	switch {
	case q.Stream == streamNames[streamFacts] && !s.endedEverywhere(streamNames[streamGroups]):
		return "R11", "the reference stream has not ended at every input"
	case q.Seq == last.seq && now != last:
		return "R17", fmt.Sprintf("chunk %d of lane %d was another one", q.Seq, q.Lane)
	case q.Seq == last.seq:
	case q.Seq != last.seq+1 || last.seq != s.acked[q.Lane]:
		return "R17", fmt.Sprintf("chunk %d of lane %d comes after %d, and %d were acknowledged", q.Seq, q.Lane, last.seq, s.acked[q.Lane])
	}
	s.said[q.Lane] = now
	return "", ""
}

func sumOf(q *protocol.Request) uint32 {
	sum := crc32.ChecksumIEEE(fmt.Appendf(nil, "%s %s %d %s %s %d %v ", q.Stream, q.File, q.Line, q.Header, q.Path, q.From, q.Stamp))
	return crc32.Update(sum, crc32.IEEETable, q.Data)
}

func (s *speech) endedEverywhere(stream string) bool {
	return s.c.rewired || !slices.ContainsFunc(s.c.inputs, func(in *node) bool {
		return s.ended[in] != stream &&
			s.ended[in] != streamNames[streamFacts]
	})
}

// end checks that everything that was sent to this input is acknowledged, and that the end lists all of it.
func (s *speech) end(to *node, q *protocol.Request) (rule, wrong string) {
	if stream := slices.Index(streamNames[:], q.Stream); !s.c.cut[stream] || len(s.c.pieces[stream]) > 0 {
		return "D1", fmt.Sprintf("%d chunks of %s are left", len(s.c.pieces[stream]), q.Stream)
	}
	for lane := range s.lanes() {
		if p := s.said[lane]; p.to == to && s.acked[lane] < p.seq {
			return "R17", fmt.Sprintf("chunk %d of lane %d is not acknowledged", p.seq, lane)
		}
	}
	if has := s.lanesAt(to); !slices.Equal(q.Lanes, has) {
		return "R17", fmt.Sprintf("it has acknowledged %v, and the end says %v", has, q.Lanes)
	}
	return "", ""
}

// ping checks that a ping lists exactly what the input has acknowledged.
func (s *speech) ping(to *node, q *protocol.Request) (rule, wrong string) {
	if has := s.lanesAt(to); !slices.Equal(q.Lanes, has) || q.Stream != s.ended[to] {
		return "R14", fmt.Sprintf("it has acknowledged %v and the end of %q, and the ping says %v and %q", has, s.ended[to], q.Lanes, q.Stream)
	}
	return "", ""
}

// lanesAt returns what an input has acknowledged.
func (s *speech) lanesAt(in *node) (lanes []protocol.LaneSeq) {
	for lane := range s.lanes() {
		if seq := s.acked[lane]; seq > 0 && s.said[lane].to == in {
			lanes = append(lanes, protocol.LaneSeq{Lane: lane, Seq: seq})
		}
	}
	return lanes
}

// lanes is greater than the number of any lane, each of which has a connection.
func (s *speech) lanes() uint32 { return uint32(max(len(s.c.conns), 16)) }

// woke resets the times of requests: a client that slept could not send any.
func (s *speech) woke() {
	for in := range s.alive {
		s.alive[in] = s.c.w.At
	}
}

// keepsAlive demands that each input that has opened the session hears from its client long before the input would give the client up
// (B13).
func (s *speech) keepsAlive() {
	if s.c.over {
		return
	}
	for _, in := range s.c.inputs {
		if silent := s.c.w.At - s.alive[in]; s.alive[in] > 0 && silent > clientTimeout/2 {
			s.c.w.fail("N10: client %s has said nothing to %s for %v, and limits.client_timeout is %v", s.c, in.id, silent, clientTimeout)
		}
	}
}
