// Package parser is the role that turns chunks of CSV into batches with only the columns that the analysis needs. It is
// stateless: nothing of it is recorded, and any replica can parse any chunk.
package parser

import (
	"fmt"
	"unsafe"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Parser implements role.Role and role.Preparer.
type Parser struct {
	sessions map[session.ID]*state
	ahead    map[*byte]*work // by the first byte of the chunk's records
}

type state struct {
	role.Session
	idle map[fileKey][]*chunkParser // those that nobody works with
}

type fileKey struct {
	stream       int
	name, header string
}

// maxFiles bounds how many files of a session have a parser ready; one more starts afresh with all of them.
const maxFiles = 256

// New returns the role.
func New() *Parser { return &Parser{sessions: map[session.ID]*state{}, ahead: map[*byte]*work{}} }

// Name says what people call it.
func (p *Parser) Name() string { return "parser" }

// Open implements role.Role.
func (p *Parser) Open(s role.Session) error {
	p.sessions[s.ID] = &state{Session: s, idle: map[fileKey][]*chunkParser{}}
	return nil
}

// Take implements role.Role: one chunk, one batch.
func (p *Parser) Take(id session.ID, m role.Message, out role.Emitter) (durable bool, err error) {
	st := p.sessions[id]
	chunk := m.Chunk
	if chunk == nil {
		if chunk, err = role.DecodeChunk(m.Payload); err != nil {
			return false, err
		}
	}
	w := p.done(id, m.Stream, chunk)
	if w == nil {
		if w, err = st.begin(m.Stream, chunk); err == nil {
			w.do()
		}
	}
	if err == nil {
		st.put(w)
		err = w.err
	}
	if err != nil {
		return false, fmt.Errorf("stream %s, %s from line %d: %w", st.Analysis.Streams[m.Stream].Name, chunk.File, chunk.Line, err)
	}
	if w.payload != nil {
		out.Emit(0, role.Message{Stream: m.Stream, Payload: w.payload})
	}
	return false, nil
}

// Prepare implements role.Preparer.
func (p *Parser) Prepare(id session.ID, m role.Message) func() {
	st := p.sessions[id]
	if st == nil || m.Chunk == nil || len(m.Chunk.Data) == 0 {
		return nil
	}
	w, err := st.begin(m.Stream, m.Chunk)
	if err != nil {
		return nil // Take finds it again, and says it
	}
	w.session = id
	p.ahead[unsafe.SliceData(m.Chunk.Data)] = w
	return w.do
}

// done returns the work on a chunk if it was done ahead.
func (p *Parser) done(id session.ID, stream int, c *role.Chunk) *work {
	at := unsafe.SliceData(c.Data)
	w := p.ahead[at]
	if w == nil || w.session != id || w.stream != stream || w.chunk.File != c.File || w.chunk.Line != c.Line || len(w.chunk.Data) != len(c.Data) {
		return nil
	}
	delete(p.ahead, at)
	return w
}

// DiscardPrepared implements role.Preparer.
func (p *Parser) DiscardPrepared() { clear(p.ahead) }

// begin takes a parser for a chunk.
func (st *state) begin(stream int, c *role.Chunk) (*work, error) {
	key := fileKey{stream, c.File, string(c.Header)}
	w := &work{stream: stream, chunk: c, key: key}
	if idle := st.idle[key]; len(idle) > 0 {
		w.parser, st.idle[key] = idle[len(idle)-1], idle[:len(idle)-1]
		return w, nil
	}
	var err error
	w.parser, err = newChunkParser(st, stream, c)
	return w, err
}

// put gives a parser back. One that broke is not used again.
func (st *state) put(w *work) {
	if w.err != nil {
		return
	}
	if _, known := st.idle[w.key]; !known && len(st.idle) >= maxFiles {
		clear(st.idle)
	}
	st.idle[w.key] = append(st.idle[w.key], w.parser)
}

// Flush implements role.Role.
func (p *Parser) Flush(session.ID, role.Emitter) error { return nil }

// End implements role.Role.
func (p *Parser) End(session.ID, int, role.Emitter) (bool, error) { return false, nil }

// More implements role.Role.
func (p *Parser) More(session.ID, role.Emitter) (bool, error) { return false, nil }

// Drop implements role.Role.
func (p *Parser) Drop(id session.ID, _ role.Outcome) { delete(p.sessions, id) }

// Snapshot implements role.Role.
func (p *Parser) Snapshot(_ session.ID, dst []byte) []byte { return dst }

// Restore implements role.Role.
func (p *Parser) Restore(session.ID, []byte) error { return nil }
