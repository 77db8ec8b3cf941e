package role

import "posta.dev/posta/protocol/session"

// Prepare is a role whose work on a chunk depends on the chunk and its session alone. It can be done before the chunk is taken, beside
// that on other chunks: what takes the most time in a pipeline need not keep to one core. The state machine notices nothing but that
// Take is quick.
type Preparer interface {
	// Prepare returns the work on a chunk, nil if there is none. It runs once, perhaps on another goroutine, and has returned before the
	// role's next method is called. Take of the same chunk then finds it done; work that no Take asks for is wasted and does no harm.
	Prepare(id session.ID, m Message) func()
	// DiscardPrepared says that the chunks are taken, or will not be: what was done ahead is forgotten.
	DiscardPrepared()
}

// ChunkDecoder is a gateway that can tell before a request whether it brings a chunk that it would pass on.
type ChunkDecoder interface {
	Chunk(body []byte) (session.ID, Message, bool)
}
