package input

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
)

// chunk takes a chunk of CSV; a repeated chunk is not taken again. held reports that the chunk waits for room, so the request's body must
// be kept.
func (in *Input) chunk(r *role.Request, u *upload, req *protocol.Request) (held bool) {
	from := r.From
	last, rd := u.lanes[req.Lane], u.reads[req.Lane]
	if rd != nil && req.Seq == rd.seq || req.Seq == last.seq && checksum(req, chunkOf(req).Sum()) != last.sum {
		in.contradicts(r, u, req)
		return false
	}
	if req.Seq <= last.seq {
		in.ReplyStored(from, last.answer(req))
		return false
	}
	if rd != nil || req.Seq > last.seq+1 {
		in.gap(r, u, req)
		return false
	}
	stream, refusal := u.stream(req)
	if refusal != nil {
		in.Reply(from, *refusal)
		return false
	}
	if !in.Host.Room(u.ID, u.Analysis.Streams[stream].Reference) {
		in.hold(r, req)
		return true
	}
	in.feed(r, u, stream, req)
	return false
}

// gap refuses a number that follows one that was not taken. A client sends a number only after the one before was acknowledged, so this
// input has lost that one.
func (in *Input) gap(r *role.Request, u *upload, req *protocol.Request) {
	last := u.lanes[req.Lane].seq
	in.lost(u.ID, u.Owner, fmt.Sprintf("chunk %d of lane %d", req.Seq-1, req.Lane))
	no := refusef(protocol.ErrGap, "lane %d of session %s is at chunk %d: chunk %d is missing, %d came", req.Lane, u.ID, last, last+1, req.Seq)
	no.Err.Want = last + 1
	in.ReplyStored(r.From, no)
}

// fail aborts a session whose client contradicts itself, or knows of chunks that the input does not have. It is unknown which of the two is
// right, so no answer could be trusted (R17).
func (in *Input) fail(from role.Peer, u *upload, how string) {
	why := gateway.Outcome{Code: protocol.ErrFailed, Reason: fmt.Sprintf("session %s at node %s: %s; start the session again", u.ID,
		in.About.Node, how)}
	in.Host.Abort(u.ID, why.ForRole())
	in.ReplyStored(from, why.Refusal())
}

// checksum returns a checksum of everything in a chunk except its number; data is the checksum of its data. It detects mistakes; the token
// protects against strangers.
func checksum(req *protocol.Request, data uint32) uint32 {
	sum := crc32.Update(0, castagnoli, []byte(req.Stream+"\x00"+req.File+"\x00"))
	sum = crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint64(nil, req.Line))
	sum = crc32.Update(sum, castagnoli, req.Header)
	return crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint32(nil, data))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stream finds the stream of a chunk, and refuses a chunk that comes at the wrong time or with a file of another stream.
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
		return no(protocol.ErrBadRequest, "file %q does not belong to stream %s, whose files are %s", req.File, s.Name, s.Files)
	}
	return stream, nil
}

func matches(s *analyses.Stream, file string) bool {
	_, ok := s.Match(file)
	return ok
}

func (in *Input) feed(r *role.Request, u *upload, stream int, req *protocol.Request) {
	chunk := r.Chunk
	if chunk == nil {
		chunk = chunkOf(req)
	}
	last, from := taken{seq: req.Seq, sum: checksum(req, chunk.Sum())}, placeOf(stream, req, chunk.Sum())
	if err := u.cover(from, in.coveredBytes()); err != nil {
		in.fail(r.From, u, fmt.Sprintf("stream %s: %v, and its client sends them again", req.Stream, err))
		return
	}
	u.lanes[req.Lane] = last
	u.lastProgress = in.now
	u.bytes += uint64(len(req.Data))
	u.chunks++
	in.Host.Record(encodeLane(u.ID, req.Lane, last, len(req.Data), from))
	if err := in.Host.Feed(u.ID, role.Message{Stream: stream, Chunk: chunk}); err != nil {
		in.ReplyStored(r.From, protocol.RefuseFor(protocol.ErrFailed, err))
		return
	}
	in.ReplyStored(r.From, protocol.Reply{Type: protocol.OK, Lane: req.Lane, Seq: req.Seq})
}

func chunkOf(req *protocol.Request) *role.Chunk {
	return &role.Chunk{File: req.File, Header: req.Header, Line: req.Line, Data: req.Data}
}

// hold keeps a request until there is room: back-pressure reaches the client as a delayed reply (R9). If a client asks again over another
// connection, the new request replaces the former one, so at most one request of a lane waits. Work that was prepared on the chunk is
// dropped.
func (in *Input) hold(r *role.Request, req *protocol.Request) {
	in.held = slices.DeleteFunc(in.held, func(h role.Request) bool {
		old, _ := h.Decode()
		return old.Session == req.Session && old.Lane == req.Lane
	})
	in.held = append(in.held, *r)
	in.held[len(in.held)-1].Chunk = nil
	if len(in.held) > maxHeld {
		in.holdOneLess()
	}
}

// maxHeld bounds how many requests wait, and so their memory, however many sessions and lanes there are. Beyond it one gets no answer. Its
// client repeats it, as after a lost reply.
const maxHeld = 256

// holdOneLess drops the last request of the client that has most requests waiting, so that it cannot keep others from waiting for room.
func (in *Input) holdOneLess() {
	waits := role.Tally{}
	for i := range in.held {
		waits[in.held[i].Client.Name]++
	}
	most := waits.Most()
	for i := len(in.held) - 1; i >= 0; i-- {
		if r := in.held[i]; r.Client.Name == most {
			in.held = slices.Delete(in.held, i, i+1)
			in.Host.Release(r.Body)
			return
		}
	}
}

// retryHeld handles the waiting requests again, in the order they came. Those that still have no room continue waiting.
func (in *Input) retryHeld() {
	waiting := in.held
	in.held = nil
	for i := range waiting {
		r := &waiting[i]
		req, _ := r.Decode() // it was decoded before it was held
		if u := in.uploads[req.Session]; u == nil {
			in.notOpen(r, req)
		} else if in.waited(r, u, req) {
			continue
		}
		in.Host.Release(r.Body)
	}
}

// waited handles a request again that was held.
func (in *Input) waited(r *role.Request, u *upload, req *protocol.Request) (held bool) {
	if req.Type == protocol.Read {
		return in.read(r, u, req, false)
	}
	return in.chunk(r, u, req)
}

// end ends a stream at this input. All its chunks must have come, and the streams before it must have ended. If two streams fill a table,
// the table is complete at the end of the later stream, and then leaves the aggregators. Rows that came after that would be lost without an
// error.
func (in *Input) end(from role.Peer, u *upload, req *protocol.Request) {
	stream := u.Analysis.StreamIndex(req.Stream)
	if stream < 0 {
		in.Reply(from, refusef(protocol.ErrBadRequest, "analysis %s has no stream %q", u.Analysis.Name, req.Stream))
		return
	}
	if before := slices.Index(u.ended[:stream], false); before >= 0 {
		in.Reply(from, refusef(protocol.ErrBadRequest, "stream %s comes behind stream %s: end that one first",
			req.Stream, u.Analysis.Streams[before].Name))
		return
	}
	if !u.ended[stream] { // a repeated end states the lanes as they were then
		if how := u.differs(req.Lanes); how != "" {
			in.fail(from, u, fmt.Sprintf("the end of stream %s says %s", req.Stream, how))
			return
		}
		u.ended[stream] = true
		u.lastProgress = in.now
		in.Host.Record(encodeEnd(u.ID, stream))
		in.Host.EndStream(u.ID, stream)
	}
	in.ReplyStored(from, protocol.Reply{Type: protocol.OK})
}

// differs returns where a client's lanes differ from what was taken; empty if they agree (R17).
func (u *upload) differs(lanes []protocol.LaneSeq) string {
	said := map[uint32]uint64{}
	for lane := range u.lanes {
		said[lane] = 0 // a lane that is not named has sent nothing
	}
	for _, l := range lanes {
		said[l.Lane] = l.Seq
	}
	for _, lane := range slices.Sorted(maps.Keys(said)) {
		if here := u.lanes[lane].seq; said[lane] != here {
			return fmt.Sprintf("that lane %d has sent %d chunks, and %d were taken", lane, said[lane], here)
		}
	}
	return ""
}
