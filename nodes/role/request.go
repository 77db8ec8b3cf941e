package role

import (
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
)

// Request is what a client sent.
type Request struct {
	From   Peer
	Client security.Identity // who asks, as the connection has proved (S5); the zero identity may do nothing
	Body   []byte            // valid until a gateway releases it
	// Chunk is what a ChunkDecoder found in the body, perhaps with work that a Preparer has done on it. Nil if the gateway has to make the
	// chunk itself.
	Chunk *Chunk

	decoded bool
	content protocol.Request
	err     error
}

// Decode returns the content of the body, which is decoded only once. Its byte slices are views into the body.
func (r *Request) Decode() (*protocol.Request, error) {
	if !r.decoded {
		r.content, r.err = protocol.DecodeRequest(r.Body)
		r.decoded = true
	}
	return &r.content, r.err
}

// Asker returns the client that made the request, with the token that it shows.
func (r *Request) Asker() Asker {
	a := Asker{Identity: r.Client}
	if req, err := r.Decode(); err == nil {
		a.Token = req.Token.Hash()
	}
	return a
}

// LocalOperator is every client that connects over a socket that asks for no key. Its sessions have no owner's name.
var LocalOperator = security.Identity{Role: security.Operate}

// Asker is a client with the token that it shows (R17); the zero hash for none.
type Asker struct {
	security.Identity
	Token session.TokenHash
}
