package parser

import (
	"bytes"
	"fmt"
	"math"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// chunkParser parses chunks of one file, one at a time, and has the memory it does that with.
type chunkParser struct {
	key      fileKey
	of       string // stream
	file     analyses.File
	rows     *parse.FileParser
	rejected *fold.Table
	scratch  []byte // the last payload
}

// newChunkParser returns the parser of a chunk's file. former is one of another file of the stream whose memory it may have; it may be nil.
func newChunkParser(st *state, key fileKey, c *role.Chunk, former *chunkParser) (*chunkParser, error) {
	s := &st.Analysis.Streams[key.stream]
	file, ok := s.Match(c.File)
	if !ok {
		return nil, fmt.Errorf("file %q is none of stream %s, whose files are %s", c.File, s.Name, s.Files)
	}
	p := &chunkParser{key: key, of: s.Name, file: file}
	var builder *batch.Builder
	if former != nil {
		builder, p.rejected, p.scratch = former.rows.Builder(), former.rejected, former.scratch
	} else {
		builder, p.rejected = batch.NewBuilder(s.Schema), fold.NewTable(&analyses.RejectedSpec)
	}
	var err error
	p.rows, err = guarded(func() (*parse.FileParser, error) {
		return parse.NewFileWith(builder, st.Analysis, key.stream, st.Args, file, c.Header)
	})
	return p, err
}

// work is one chunk, its parser, and what came of it. It touches nothing else, so two of them can be done side by side.
type work struct {
	of      *state
	stream  int
	chunk   *role.Chunk
	parser  *chunkParser
	limit   int      // of a payload
	payload []byte   // nil if the chunk has no row, or too many for one payload
	pieces  [][]byte // these are the payloads then
	err     error
}

func (w *work) do() {
	w.payload, w.err = guarded(func() ([]byte, error) { return w.parser.parse(w.chunk) })
	if w.err == nil && len(w.payload) > w.limit {
		w.payload = nil
		w.pieces, w.err = guarded(func() ([][]byte, error) { return w.parser.split(w.chunk, w.limit) })
	}
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

// split parses a chunk whose rows no single frame may carry once more, and makes payloads of at most limit bytes (R15). It is seldom: a
// batch is smaller than its CSV, but for chunks of many short rows, or chunks about as large as limits.frame. The rejected rows go by themselves.
func (p *chunkParser) split(c *role.Chunk, limit int) (payloads [][]byte, err error) {
	head := len(role.AppendRowsHead(nil, p.file, math.MaxUint64, nil))
	rejects, err := p.rows.Pieces(c.Data, c.Line, limit-head, func(line uint64) {
		p.scratch = p.rows.Builder().Append(role.AppendRowsHead(p.scratch[:0], p.file, line, nil))
		payloads = append(payloads, bytes.Clone(p.scratch))
	})
	if err != nil || rejects.Rows == 0 {
		return payloads, err
	}
	p.rejected.Reset()
	rejects.AddTo(p.rejected, p.of)
	return append(payloads, role.AppendRowsHead(nil, p.file, c.Line, p.rejected.AppendRows(nil, p.rejected.Rows()))), nil
}
