package parser

import (
	"bytes"
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/fold"
)

// chunkParser parses chunks of one file, one at a time, and has the memory it does that with.
type chunkParser struct {
	of       string // stream
	file     analyses.File
	rows     *parse.FileParser
	rejected *fold.Table
	scratch  []byte // the last payload
}

func newChunkParser(st *state, stream int, c *role.Chunk) (*chunkParser, error) {
	s := &st.Analysis.Streams[stream]
	file, ok := s.Match(c.File)
	if !ok {
		return nil, fmt.Errorf("file %q is none of stream %s, whose files are %s", c.File, s.Name, s.Files)
	}
	fp, err := guarded(func() (*parse.FileParser, error) { return parse.NewFile(st.Analysis, stream, st.Args, file, c.Header) })
	if err != nil {
		return nil, err
	}
	return &chunkParser{of: s.Name, file: file, rows: fp, rejected: fold.NewTable(&analyses.RejectedSpec)}, nil
}

// work is one chunk, its parser, and what came of it. It touches nothing else, so two of them can be done side by side.
type work struct {
	of      *state
	stream  int
	chunk   *role.Chunk
	key     fileKey
	parser  *chunkParser
	payload []byte // nil if the chunk has no row
	err     error
}

func (w *work) do() {
	w.payload, w.err = guarded(func() ([]byte, error) { return w.parser.parse(w.chunk) })
}

// guarded makes an error of a panic in an analysis' parser (N6). The core's own guard does not reach a goroutine beside the loop.
func guarded[T any](f func() (T, error)) (v T, err error) {
	defer role.Explain(&err, nil)
	return f()
}

func (p *chunkParser) parse(c *role.Chunk) ([]byte, error) {
	rows, rejects, err := p.rows.Chunk(c.Data, c.Line)
	if err != nil {
		return nil, err
	}
	if rows == 0 && rejects.Rows == 0 {
		return nil, nil
	}
	var rejected []byte
	if rejects.Rows > 0 {
		p.rejected.Reset()
		rejects.AddTo(p.rejected, p.of)
		rejected = p.rejected.AppendRows(nil, p.rejected.Rows())
	}
	p.scratch = role.AppendRowsHead(p.scratch[:0], p.file, c.Line, rejected)
	if rows > 0 {
		p.scratch = p.rows.Builder().Append(p.scratch)
	}
	// The copy is as large as it must be: it waits in an outbox, and the window counts its length, not its capacity. A batch is
	// a sixth of its CSV or a half, and room for the worst would make a full window several times as large in memory.
	return bytes.Clone(p.scratch), nil
}
