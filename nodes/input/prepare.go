package input

import (
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// DecodeChunk implements role.ChunkDecoder. It returns false for every chunk that would not be fed at once.
func (in *Input) DecodeChunk(r *role.Request) (id session.ID, stream int, ok bool) {
	req, err := r.Decode()
	if err != nil || req.Type != protocol.Chunk {
		return id, 0, false
	}
	u := in.upload(r.Client, req)
	if u == nil || req.Token.Hash() != u.Openers.Now() || req.Seq != u.lanes[req.Lane].seq+1 {
		return id, 0, false
	}
	stream, refusal := u.stream(req)
	if refusal != nil || !in.Host.Room(u.ID, u.Analysis.Streams[stream].Reference) {
		return id, 0, false
	}
	r.Chunk = chunkOf(req)
	return u.ID, stream, true
}
