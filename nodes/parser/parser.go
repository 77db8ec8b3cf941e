// Package parser is the role that turns chunks of CSV into batches with only the columns that the analysis needs. It is
// stateless: nothing of it is recorded, and any replica can parse any chunk.
package parser

import (
	"bytes"
	"fmt"

	"posta/analyses"
	"posta/analyses/parse"
	"posta/fold"
	"posta/nodes/role"
	"posta/session"
)

// Parser implements role.Role.
type Parser struct {
	sessions map[session.ID]*state
}

type state struct {
	role.Session
	files    map[fileKey]*parse.FileParser
	rejected *fold.Table
	scratch  []byte // the last payload
	rows     uint64
}

type fileKey struct {
	stream       int
	name, header string
}

// maxFiles bounds how many files of a session have a parser ready; one more starts afresh with all of them.
const maxFiles = 256

// New returns the role.
func New() *Parser { return &Parser{sessions: map[session.ID]*state{}} }

// Name says what people call it.
func (p *Parser) Name() string { return "parser" }

// Open implements role.Role.
func (p *Parser) Open(s role.Session) error {
	p.sessions[s.ID] = &state{
		Session: s, files: map[fileKey]*parse.FileParser{}, rejected: fold.NewTable(&analyses.RejectedSpec),
	}
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
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
		if err != nil {
			err = fmt.Errorf("stream %s, %s from line %d: %w", st.Analysis.Streams[m.Stream].Name, chunk.File, chunk.Line, err)
		}
	}()
	payload, err := st.parse(m.Stream, chunk)
	if err != nil || payload == nil {
		return false, err
	}
	out.Emit(0, role.Message{Stream: m.Stream, Payload: payload})
	return false, nil
}

func (st *state) parse(stream int, c *role.Chunk) ([]byte, error) {
	fp, file, err := st.file(stream, c)
	if err != nil {
		return nil, err
	}
	rows, rejects, err := fp.Chunk(c.Data, c.Line)
	if err != nil {
		return nil, err
	}
	if rows == 0 && rejects.Rows == 0 {
		return nil, nil
	}
	var rejected []byte
	if rejects.Rows > 0 {
		st.rejected.Reset()
		rejects.AddTo(st.rejected, st.Analysis.Streams[stream].Name)
		rejected = st.rejected.AppendRows(nil, st.rejected.Rows())
	}
	st.rows += uint64(rows)
	st.scratch = role.AppendRowsHead(st.scratch[:0], file, c.Line, rejected)
	if rows > 0 {
		st.scratch = fp.Builder().Append(st.scratch)
	}
	// The copy is as large as it must be: it waits in an outbox, and the window counts its length, not its capacity. A batch is
	// a sixth of its CSV or a half, and room for the worst would make a full window several times as large in memory.
	return bytes.Clone(st.scratch), nil
}

func (st *state) file(stream int, c *role.Chunk) (*parse.FileParser, analyses.File, error) {
	s := &st.Analysis.Streams[stream]
	file, ok := s.Match(c.File)
	if !ok {
		return nil, file, fmt.Errorf("file %q is none of stream %s, whose files are %s", c.File, s.Name, s.Files)
	}
	key := fileKey{stream, c.File, string(c.Header)}
	if fp := st.files[key]; fp != nil {
		return fp, file, nil
	}
	fp, err := parse.NewFile(st.Analysis, stream, st.Args, file, c.Header)
	if err != nil {
		return nil, file, err
	}
	if len(st.files) >= maxFiles {
		clear(st.files)
	}
	st.files[key] = fp
	return fp, file, nil
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
