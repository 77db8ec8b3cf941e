package role

import "posta.dev/posta/protocol/session"

// Preparer is a role whose work on a chunk depends on the chunk and its session alone. The work can be done before the chunk is taken, in
// parallel with the work on other chunks. So the work that takes the most time in a pipeline can use all processor cores. The state machine
// only sees that Take gets quicker.
type Preparer interface {
	// Prepare returns the work on a chunk, nil if there is none. The work runs once, perhaps on another goroutine, while the role's methods
	// are called for other chunks and sessions, or drop this chunk's session; so it shares nothing with them that changes. It has returned
	// before Take gets the chunk. Its result stays with the chunk (Chunk.Prepared), where Take finds it. If no Take gets the chunk, the result
	// is dropped. Its payloads keep to the limits.
	Prepare(id session.ID, stream int, c *Chunk, limits Limits) (work func())
}

// Slicer is a role whose call of Take may need a long computation. The core lets it compute in slices before it takes the frame, and serves
// other links and sessions in between.
type Slicer interface {
	// Ahead does a slice of what Take needs for m, some milliseconds, and reports whether there is more to do before that call. It emits
	// nothing and changes nothing that Flush emits, so it is not recorded. A call of Take does whatever work is still missing. The payload is
	// not kept.
	Ahead(id session.ID, m Message) (more bool)
	// Close ends all computations, when the node gives its state up.
	Close()
}

// ChunkDecoder is a gateway that can decide, before it handles a request, whether the request brings a chunk that it would feed now.
type ChunkDecoder interface {
	// DecodeChunk sets r.Chunk if the gateway would feed it now. The gateway may still refuse it when it handles the request.
	DecodeChunk(r *Request) (id session.ID, stream int, ok bool)
}
