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

// chunkParser parses chunks of one file, one at a time, and owns the memory for that.
type chunkParser struct {
	key      fileKey
	of       *analyses.Stream
	file     analyses.File
	rows     *parse.FileParser
	rejected *fold.Table
	joiner   analyses.Joiner // a fork of the joiner in the same node; nil: there is none, or not yet
	alone    bool            // a fork has failed: take no other
	folder   analyses.Folder // folds rows while there is no fork; nil: rows are sent unfolded
	asked    bool            // the analysis has said whether there is a folder
	partials role.PartialEncoder
	scratch  []byte // the last payload
}

// newChunkParser returns the parser of a chunk's file. It reuses the memory of former, a parser of another file of the stream; former may
// be nil.
func newChunkParser(st *state, key fileKey, c *role.Chunk, former *chunkParser) (*chunkParser, error) {
	s := &st.Analysis.Streams[key.stream]
	file, ok := s.Match(c.File)
	if !ok {
		return nil, fmt.Errorf("file %q does not belong to stream %s, whose files are %s", c.File, s.Name, s.Files)
	}
	p := &chunkParser{key: key, of: s, file: file}
	var err error
	var builder *batch.Builder
	if former != nil {
		builder, p.rejected, p.folder, p.scratch = former.rows.Builder(), former.rejected, former.folder, former.scratch
		p.joiner, p.alone, p.asked = former.joiner, former.alone, former.asked
	} else {
		builder, p.rejected = batch.NewBuilder(s.Schema), fold.NewTable(&analyses.RejectedSpec)
	}
	p.rows, err = guarded(func() (*parse.FileParser, error) {
		return parse.NewFileWith(builder, st.Analysis, key.stream, st.Args, file, c.Header)
	})
	return p, err
}

// newFolder returns the folder of a stream's rows, nil if rows are sent unfolded.
func (st *state) newFolder(stream int) (analyses.Folder, error) {
	if st.Analysis.NewFolder == nil || st.Analysis.Streams[stream].Reference {
		return nil, nil
	}
	return guarded(func() (analyses.Folder, error) { return st.Analysis.NewFolder(st.Args, stream) })
}

// fork takes a fork of the joiner in the same node as soon as the joiner can give one. It tries at each chunk, because
// chunks may arrive before the reference streams end. A folder is for parsers without a fork: what it folds is encoded, and
// decoded by the joiner.
func (p *chunkParser) fork(st *state, stream int) (err error) {
	if p.joiner != nil || p.alone || st.Analysis.Streams[stream].Reference {
		return nil
	}
	if st.next != nil {
		p.joiner, err = guarded(func() (analyses.Joiner, error) { return st.next.Fork(st.ID, stream), nil })
	}
	if p.joiner == nil && err == nil && !p.asked {
		p.asked = true
		p.folder, err = st.newFolder(stream)
	}
	return err
}

// work is one chunk, its parser, and the result. It touches nothing else, so several can run in parallel.
type work struct {
	of      *state
	stream  int
	chunk   *role.Chunk
	parser  *chunkParser
	limit   int          // of a payload, in bytes
	payload []byte       // nil if the chunk has no row, or too many for one payload
	pieces  [][]byte     // the payloads of a chunk that has too many rows for one
	folded  *role.Folded // replaces all payloads
	err     error
}

func (w *work) do() {
	w.payload, w.err = guarded(func() ([]byte, error) { return w.parse() })
	if w.err == nil && len(w.payload) > w.limit {
		w.payload = nil
		w.pieces, w.err = guarded(func() ([][]byte, error) { return w.parser.split(w.chunk, w.limit) })
	}
}

// guarded turns a panic in an analysis' parser into an error (N6). The core's own guard does not cover goroutines beside the loop.
func guarded[T any](f func() (T, error)) (v T, err error) {
	defer role.Explain(&err, nil)
	return f()
}

func (w *work) parse() ([]byte, error) {
	p, c := w.parser, w.chunk
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
		p.of.AddRejects(&rejects, p.rejected)
		rejected = p.rejected.AppendRows(nil, p.rejected.Rows())
	}
	if rows > 0 && p.joiner != nil && p.join(c) {
		w.folded = &role.Folded{Fork: p.joiner, Rejected: rejected}
		return nil, nil
	}
	if rows > 0 && p.fold(c, rejected) && len(p.scratch) <= w.limit {
		return bytes.Clone(p.scratch), nil
	}
	p.scratch = role.AppendRowsHead(p.scratch[:0], p.file, c.Line, rejected)
	if rows > 0 {
		p.scratch = p.rows.Builder().Append(p.scratch)
	}
	// The copy has no spare capacity: it waits in an outbox, and the window counts its length, not its capacity. A batch takes between a sixth
	// and a half of its CSV. With capacity for the worst case, a full window would take several times its size in memory.
	return bytes.Clone(p.scratch), nil
}

// join folds the rows with the fork of the joiner. If that fails it returns false, and the rows go to the joiner, which meets the same
// error. So errors are reported in one place and one form.
func (p *chunkParser) join(c *role.Chunk) bool {
	_, err := guarded(func() (any, error) {
		return nil, p.joiner.Facts(p.key.stream, p.rows.Builder().View(), analyses.Position{File: p.file, Line: c.Line})
	})
	if err != nil {
		p.joiner, p.alone = nil, true // the fork may have folded only some of the rows
	}
	return err == nil
}

// fold puts the payload of the folded rows into scratch. It returns false if the rows must be sent unfolded.
func (p *chunkParser) fold(c *role.Chunk, rejected []byte) bool {
	if p.folder == nil {
		return false
	}
	tables, folded := p.folder.Fold(p.rows.Builder(), analyses.Position{File: p.file, Line: c.Line})
	if !folded {
		return false
	}
	var partials [][]byte
	for i, t := range tables {
		if t.Len() > 0 {
			partials = append(partials, p.partials.Encode(i, t, t.Rows()))
		}
	}
	p.scratch = role.AppendFolded(p.scratch[:0], p.file, c.Line, rejected, partials)
	return true
}

// split parses a chunk again whose rows exceed one frame, and makes payloads of at most limit bytes (R15). It is rarely needed: a batch is
// smaller than its CSV, except for chunks of many short rows or chunks about as large as limits.frame. The rejected rows get their own
// payload.
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
	p.of.AddRejects(&rejects, p.rejected)
	return append(payloads, role.AppendRowsHead(nil, p.file, c.Line, p.rejected.AppendRows(nil, p.rejected.Rows()))), nil
}
