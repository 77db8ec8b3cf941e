package input

import (
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Chunk implements role.ChunkDecoder. It says no to whatever would not be fed at once; what it says yes to may still be turned down.
func (in *Input) Chunk(body []byte) (id session.ID, m role.Message, ok bool) {
	req, err := protocol.DecodeRequest(body)
	if err != nil || req.Type != protocol.Chunk {
		return id, m, false
	}
	u := in.uploads[req.Session]
	if u == nil || req.Seq != u.lanes[req.Lane]+1 {
		return id, m, false
	}
	stream, refusal := u.stream(&req)
	if refusal != nil || !in.host.Room(stream, u.analysis.Streams[stream].Reference) {
		return id, m, false
	}
	return u.id, role.Message{Stream: stream, Chunk: chunkOf(&req)}, true
}

func chunkOf(req *protocol.Request) *role.Chunk {
	return &role.Chunk{File: req.File, Header: req.Header, Line: req.Line, Data: req.Data}
}
