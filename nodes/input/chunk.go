package input

import (
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
)

// chunk takes a chunk of CSV: once, whatever the client repeats. held says that it waits for room, and body, what it came in, with it.
func (in *Input) chunk(from role.Peer, u *upload, req *protocol.Request, body []byte) (held bool) {
	taken := u.lanes[req.Lane]
	if req.Seq <= taken {
		in.replyStored(from, protocol.Reply{Type: protocol.OK, Lane: req.Lane, Seq: req.Seq})
		return false
	}
	if req.Seq > taken+1 {
		r := refusef(protocol.ErrGap, "lane %d of session %s is at chunk %d: chunk %d is missing, %d came", req.Lane, u.id, taken, taken+1, req.Seq)
		r.Err.Want = taken + 1
		in.replyStored(from, r)
		return false
	}
	stream, refusal := u.stream(req)
	if refusal != nil {
		in.reply(from, *refusal)
		return false
	}
	if !in.host.Room(stream, u.analysis.Streams[stream].Reference) {
		in.hold(from, req, body)
		return true
	}
	in.feed(from, u, stream, req)
	return false
}

// stream finds the stream of a chunk and says no to what comes at the wrong time.
func (u *upload) stream(req *protocol.Request) (int, *protocol.Reply) {
	stream := u.analysis.StreamIndex(req.Stream)
	no := func(code protocol.Code, format string, args ...any) (int, *protocol.Reply) {
		r := refusef(code, format, args...)
		return 0, &r
	}
	switch {
	case stream < 0:
		return no(protocol.ErrBadRequest, "analysis %s has no stream %q", u.analysis.Name, req.Stream)
	case u.ended[stream]:
		return no(protocol.ErrClosed, "stream %s of session %s has ended here: nothing can be added to it", req.Stream, u.id)
	case !u.analysis.Streams[stream].Reference && !u.referenceEnded():
		return no(protocol.ErrBadRequest, "stream %s holds facts: end the reference streams first", req.Stream)
	}
	if s := &u.analysis.Streams[stream]; !matches(s, req.File) {
		return no(protocol.ErrBadRequest, "file %q is none of stream %s, whose files are %s", req.File, s.Name, s.Files)
	}
	return stream, nil
}

func matches(s *analyses.Stream, file string) bool {
	_, ok := s.Match(file)
	return ok
}

func (in *Input) feed(from role.Peer, u *upload, stream int, req *protocol.Request) {
	u.lanes[req.Lane] = req.Seq
	u.worked = in.now
	u.bytes += uint64(len(req.Data))
	u.chunks++
	in.host.Record(encodeLane(u.id, req.Lane, req.Seq, len(req.Data)))
	err := in.host.Feed(u.id, role.Message{Stream: stream, Chunk: chunkOf(req)})
	if err != nil {
		in.replyStored(from, gateway.Parse(err.Error()).Refusal())
		return
	}
	in.replyStored(from, protocol.Reply{Type: protocol.OK, Lane: req.Lane, Seq: req.Seq})
}

// hold keeps a chunk until there is room. A client that asks again, over another connection, takes the place of its former
// self, so at most one chunk of a lane waits.
func (in *Input) hold(from role.Peer, req *protocol.Request, body []byte) {
	same := func(h heldChunk) bool { return h.req.Session == req.Session && h.req.Lane == req.Lane }
	in.held = slices.DeleteFunc(in.held, same)
	if len(in.held) < maxHeld {
		in.held = append(in.held, heldChunk{from, *req, body})
	}
}

// maxHeld bounds the memory of chunks that wait, whatever the number of sessions and lanes. What comes on top gets no
// answer: its client says it again, as after a lost reply.
const maxHeld = 256

// retryHeld takes chunks that waited, in the order they came, as long as there is room.
func (in *Input) retryHeld() {
	waiting := in.held
	in.held = nil
	for i := range waiting {
		h := &waiting[i]
		u := in.uploads[h.req.Session]
		if u == nil {
			in.notOpen(h.peer, &h.req)
			in.host.Release(h.body)
			continue
		}
		if !in.chunk(h.peer, u, &h.req, h.body) {
			in.host.Release(h.body)
		}
	}
}

// end ends a stream at this input. All its chunks must have come, and the streams before it have ended: a table that two streams fill
// is complete, and leaves the aggregators, with the later one. What came behind that would be lost without a word.
func (in *Input) end(from role.Peer, u *upload, req *protocol.Request) {
	stream := u.analysis.StreamIndex(req.Stream)
	if stream < 0 {
		in.reply(from, refusef(protocol.ErrBadRequest, "analysis %s has no stream %q", u.analysis.Name, req.Stream))
		return
	}
	for _, l := range req.Lanes {
		if taken := u.lanes[l.Lane]; taken < l.Seq {
			r := refusef(protocol.ErrGap, "lane %d of session %s is at chunk %d of %d: send the others before the end", l.Lane, u.id, taken, l.Seq)
			r.Err.Want = taken + 1
			in.replyStored(from, r)
			return
		}
	}
	if before := slices.Index(u.ended[:stream], false); before >= 0 {
		in.reply(from, refusef(protocol.ErrBadRequest, "stream %s comes behind stream %s: end that one first",
			req.Stream, u.analysis.Streams[before].Name))
		return
	}
	if !u.ended[stream] {
		u.ended[stream] = true
		u.worked = in.now
		in.host.Record(encodeEnd(u.id, stream))
		in.host.EndStream(u.id, stream)
	}
	in.replyStored(from, protocol.Reply{Type: protocol.OK})
}
