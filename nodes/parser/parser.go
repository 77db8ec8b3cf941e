// Package parser is the role that turns chunks of CSV into batches with only the columns that the analysis needs. It is
// stateless: nothing of it is recorded, and any replica can parse any chunk.
package parser

import (
	"fmt"
	"runtime"
	"slices"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// Parser implements role.Role and role.Preparer.
type Parser struct {
	role.Base
	sessions map[session.ID]*state
}

var (
	_ role.Role     = (*Parser)(nil)
	_ role.Preparer = (*Parser)(nil)
)

type state struct {
	role.Session
	idle []*chunkParser // those that nobody works with, at most maxIdle, the one that was used last at the end
}

type fileKey struct {
	stream       int
	name, header string
}

// maxIdle bounds how many parsers of a session are ready (R16): as many chunks are parsed side by side, and one stream follows the other.
// Each holds the memory of a batch. There was one for each file and worker, and 256 files took 2.5 GB.
var maxIdle = 1 + runtime.GOMAXPROCS(0)

// New returns the role.
func New() *Parser {
	return &Parser{Base: role.Base{Role: topology.Parser}, sessions: map[session.ID]*state{}}
}

// Open implements role.Role.
func (p *Parser) Open(s role.Session) error {
	p.sessions[s.ID] = &state{Session: s}
	return nil
}

// Take implements role.Role: one chunk, one batch, or as many as limits.frame asks for (R15).
func (p *Parser) Take(id session.ID, m role.Message, out role.Emitter) (durable bool, err error) {
	st := p.sessions[id]
	chunk := m.Chunk
	if chunk == nil {
		if chunk, err = role.DecodeChunk(m.Payload); err != nil {
			return false, err
		}
	}
	w, _ := chunk.Prepared.(*work)
	chunk.Prepared = nil // a parser is given back once
	if w == nil || w.of != st || w.stream != m.Stream {
		if w, err = st.begin(m.Stream, chunk, out.Limits()); err == nil {
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
	for _, p := range w.pieces {
		out.Emit(0, role.Message{Stream: m.Stream, Payload: p})
	}
	return false, nil
}

// Prepare implements role.Preparer.
func (p *Parser) Prepare(id session.ID, stream int, c *role.Chunk, limits role.Limits) func() {
	st := p.sessions[id]
	if st == nil || len(c.Data) == 0 {
		return nil
	}
	w, err := st.begin(stream, c, limits)
	if err != nil {
		return nil // Take finds the error again and reports it
	}
	c.Prepared = w
	return w.do
}

// begin takes a parser for a chunk.
func (st *state) begin(stream int, c *role.Chunk, limits role.Limits) (*work, error) {
	key := fileKey{stream, c.File, string(c.Header)}
	w := &work{of: st, stream: stream, chunk: c, limit: limits.Frame}
	if w.parser = st.takeIdle(func(p *chunkParser) bool { return p.key == key }); w.parser != nil {
		return w, nil
	}
	former := st.takeIdle(func(p *chunkParser) bool { return p.key.stream == stream })
	var err error
	w.parser, err = newChunkParser(st, key, c, former)
	return w, err
}

// takeIdle takes the parser that was used last of those that are wanted, nil if there is none.
func (st *state) takeIdle(wanted func(*chunkParser) bool) *chunkParser {
	for i := len(st.idle) - 1; i >= 0; i-- {
		if p := st.idle[i]; wanted(p) {
			st.idle = slices.Delete(st.idle, i, i+1)
			return p
		}
	}
	return nil
}

// put gives a parser back. One that broke is not used again.
func (st *state) put(w *work) {
	if w.err != nil {
		return
	}
	if len(st.idle) >= maxIdle {
		st.idle = slices.Delete(st.idle, 0, 1+len(st.idle)-maxIdle)
	}
	st.idle = append(st.idle, w.parser)
}

// Drop implements role.Role.
func (p *Parser) Drop(id session.ID, _ role.Outcome) { delete(p.sessions, id) }
