// Package parser is the role that turns chunks of CSV into batches with only the columns that the analysis needs. It is stateless: it
// records nothing, and any replica can parse any chunk.
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
	next     role.Forker // the next role in the chain; nil if rows leave the node, or if that role takes only rows
}

var (
	_ role.Role     = (*Parser)(nil)
	_ role.Preparer = (*Parser)(nil)
)

type state struct {
	role.Session
	next role.Forker
	idle []*chunkParser // parsers that are not in use, at most maxIdle, the last used at the end
}

type fileKey struct {
	stream       int
	name, header string
}

// maxIdle bounds the idle parsers of a session (R16). It is about the number of chunks that are parsed in parallel; streams follow one
// another. Each parser holds the memory of a batch. One parser for each file and worker was rejected: 256 files took 2.5 GB.
var maxIdle = 1 + runtime.GOMAXPROCS(0)

// New returns the role.
func New() *Parser {
	return &Parser{Base: role.Base{Role: topology.Parser}, sessions: map[session.ID]*state{}}
}

// Before sets the role that follows this one in its chain.
func (p *Parser) Before(next role.Forker) { p.next = next }

// Open implements role.Role.
func (p *Parser) Open(s role.Session) error {
	p.sessions[s.ID] = &state{Session: s, next: p.next}
	return nil
}

// Take implements role.Role. It turns a chunk into one batch, or into as many as limits.frame requires (R15).
func (p *Parser) Take(id session.ID, m role.Message, out role.Emitter) (durable bool, err error) {
	st := p.sessions[id]
	chunk := m.Chunk
	if chunk == nil {
		if chunk, err = role.DecodeChunk(m.Payload); err != nil {
			return false, err
		}
	}
	w, _ := chunk.Prepared.(*work)
	chunk.Prepared = nil // so that its parser is given back only once
	if w == nil || w.of != st || w.stream != m.Stream {
		if w, err = st.begin(m.Stream, chunk, out.Limits()); err == nil {
			w.do()
		}
	}
	if err == nil {
		err = w.err
		defer st.put(w) // only afterwards: until then the joiner uses its fork
	}
	if err != nil {
		return false, fmt.Errorf("stream %s, %s from line %d: %w", st.Analysis.Streams[m.Stream].Name, chunk.File, chunk.Line, err)
	}
	if w.folded != nil {
		out.Emit(0, role.Message{Stream: m.Stream, Folded: w.folded})
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
		return nil // Take meets the error again and reports it
	}
	c.Prepared = w
	return w.do
}

// begin takes a parser for a chunk.
func (st *state) begin(stream int, c *role.Chunk, limits role.Limits) (*work, error) {
	key := fileKey{stream, c.File, string(c.Header)}
	w := &work{of: st, stream: stream, chunk: c, limit: limits.Frame}
	if w.parser = st.takeIdle(func(p *chunkParser) bool { return p.key == key }); w.parser == nil {
		former := st.takeIdle(func(p *chunkParser) bool { return p.key.stream == stream })
		var err error
		if w.parser, err = newChunkParser(st, key, c, former); err != nil {
			return nil, err
		}
	}
	return w, w.parser.fork(st, stream)
}

// takeIdle removes the last used of the idle parsers that wanted accepts, and returns it; nil if there is none.
func (st *state) takeIdle(wanted func(*chunkParser) bool) *chunkParser {
	for i := len(st.idle) - 1; i >= 0; i-- {
		if p := st.idle[i]; wanted(p) {
			st.idle = slices.Delete(st.idle, i, i+1)
			return p
		}
	}
	return nil
}

// put makes a parser idle again. A parser that has failed is dropped.
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
