package input

import (
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
)

// chunk takes a chunk of CSV: once, whatever the client repeats. held says that the chunk waits for room, and with it the request's body.
func (in *Input) chunk(r *role.Request, u *upload, req *protocol.Request) (held bool) {
	from := r.From
	taken := u.lanes[req.Lane]
	if req.Seq <= taken {
		in.ReplyStored(from, protocol.Reply{Type: protocol.OK, Lane: req.Lane, Seq: req.Seq})
		return false
	}
	if req.Seq > taken+1 {
		r := refusef(protocol.ErrGap, "lane %d of session %s is at chunk %d: chunk %d is missing, %d came", req.Lane, u.ID, taken, taken+1, req.Seq)
		r.Err.Want = taken + 1
		in.ReplyStored(from, r)
		return false
	}
	stream, refusal := u.stream(req)
	if refusal != nil {
		in.Reply(from, *refusal)
		return false
	}
	if !in.Host.Room(stream, u.Analysis.Streams[stream].Reference) {
		in.hold(r, req)
		return true
	}
	in.feed(r, u, stream, req)
	return false
}

// stream finds the stream of a chunk and says no to what comes at the wrong time.
func (u *upload) stream(req *protocol.Request) (int, *protocol.Reply) {
	stream := u.Analysis.StreamIndex(req.Stream)
	no := func(code protocol.Code, format string, args ...any) (int, *protocol.Reply) {
		r := refusef(code, format, args...)
		return 0, &r
	}
	switch {
	case stream < 0:
		return no(protocol.ErrBadRequest, "analysis %s has no stream %q", u.Analysis.Name, req.Stream)
	case u.ended[stream]:
		return no(protocol.ErrClosed, "stream %s of session %s has ended here: nothing can be added to it", req.Stream, u.ID)
	case !u.Analysis.Streams[stream].Reference && !u.referenceEnded():
		return no(protocol.ErrBadRequest, "stream %s holds facts: end the reference streams first", req.Stream)
	}
	if s := &u.Analysis.Streams[stream]; !matches(s, req.File) {
		return no(protocol.ErrBadRequest, "file %q is none of stream %s, whose files are %s", req.File, s.Name, s.Files)
	}
	return stream, nil
}

func matches(s *analyses.Stream, file string) bool {
	_, ok := s.Match(file)
	return ok
}

func (in *Input) feed(r *role.Request, u *upload, stream int, req *protocol.Request) {
	u.lanes[req.Lane] = req.Seq
	u.lastProgress = in.now
	u.bytes += uint64(len(req.Data))
	u.chunks++
	in.Host.Record(encodeLane(u.ID, req.Lane, req.Seq, len(req.Data)))
	chunk := r.Chunk
	if chunk == nil {
		chunk = chunkOf(req)
	}
	if err := in.Host.Feed(u.ID, role.Message{Stream: stream, Chunk: chunk}); err != nil {
		in.ReplyStored(r.From, gateway.ParseOutcome(err.Error()).Refusal())
		return
	}
	in.ReplyStored(r.From, protocol.Reply{Type: protocol.OK, Lane: req.Lane, Seq: req.Seq})
}

func chunkOf(req *protocol.Request) *role.Chunk {
	return &role.Chunk{File: req.File, Header: req.Header, Line: req.Line, Data: req.Data}
}

// hold keeps a chunk until there is room: back-pressure reaches the client as a delayed reply (R9). A client that asks again over another
// connection takes the place of its former request, so at most one chunk of a lane waits. Work that was prepared on the chunk is dropped.
func (in *Input) hold(r *role.Request, req *protocol.Request) {
	in.held = slices.DeleteFunc(in.held, func(h role.Request) bool {
		old, _ := h.Decode()
		return old.Session == req.Session && old.Lane == req.Lane
	})
	if len(in.held) < maxHeld {
		in.held = append(in.held, *r)
		in.held[len(in.held)-1].Chunk = nil
	}
}

// maxHeld bounds the memory of chunks that wait, whatever the number of sessions and lanes. A chunk on top gets no answer: its client
// repeats it, as after a lost reply.
const maxHeld = 256

// retryHeld takes chunks that waited, in the order they came, as long as there is room.
func (in *Input) retryHeld() {
	waiting := in.held
	in.held = nil
	for i := range waiting {
		r := &waiting[i]
		req, _ := r.Decode() // it was decoded before it was held
		if u := in.uploads[req.Session]; u == nil {
			in.notOpen(r.From, req)
		} else if in.chunk(r, u, req) {
			continue
		}
		in.Host.Release(r.Body)
	}
}

// end ends a stream at this input. All its chunks must have come, and the streams before it have ended: a table that two streams fill
// is complete, and leaves the aggregators, with the later one. What came behind that would be lost without a word.
func (in *Input) end(from role.Peer, u *upload, req *protocol.Request) {
	stream := u.Analysis.StreamIndex(req.Stream)
	if stream < 0 {
		in.Reply(from, refusef(protocol.ErrBadRequest, "analysis %s has no stream %q", u.Analysis.Name, req.Stream))
		return
	}
	for _, l := range req.Lanes {
		if taken := u.lanes[l.Lane]; taken < l.Seq {
			r := refusef(protocol.ErrGap, "lane %d of session %s is at chunk %d of %d: send the others before the end", l.Lane, u.ID, taken, l.Seq)
			r.Err.Want = taken + 1
			in.ReplyStored(from, r)
			return
		}
	}
	if before := slices.Index(u.ended[:stream], false); before >= 0 {
		in.Reply(from, refusef(protocol.ErrBadRequest, "stream %s comes behind stream %s: end that one first",
			req.Stream, u.Analysis.Streams[before].Name))
		return
	}
	if !u.ended[stream] {
		u.ended[stream] = true
		u.lastProgress = in.now
		in.Host.Record(encodeEnd(u.ID, stream))
		in.Host.EndStream(u.ID, stream)
	}
	in.ReplyStored(from, protocol.Reply{Type: protocol.OK})
}
