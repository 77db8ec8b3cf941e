package role

import "posta.dev/posta/protocol"

// Request is what a client sent.
type Request struct {
	From Peer
	Body []byte // valid until a gateway releases it
	// Chunk is what a ChunkDecoder found in the body, perhaps with work that a Preparer has done on it. Nil if the gateway has to make it.
	Chunk *Chunk

	decoded bool
	content protocol.Request
	err     error
}

// Decode returns the content of the body, decoded once for all who ask. Its byte slices are views into the body.
func (r *Request) Decode() (*protocol.Request, error) {
	if !r.decoded {
		r.content, r.err = protocol.DecodeRequest(r.Body)
		r.decoded = true
	}
	return &r.content, r.err
}
