package local

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/rows/fold"
)

// frame is a parsed batch on its way to a joiner.
type frame struct {
	stream  int
	pos     analyses.Position
	payload []byte
	folded  []*fold.Table // replaces payload; valid until the next chunk of the file
	built   *batch.Batch  // the rows of payload before encoding; valid until the next chunk of the file
}

// reader is an open file of a stream.
type reader struct {
	stream int
	file   analyses.File
	cutter Cutter
	parser *parse.FileParser
	folder analyses.Folder // nil: rows are not folded where they are parsed
	io.Closer
}

func cutCSV(s *analyses.Stream, file io.Reader, chunkBytes, maxRecord int) (Cutter, error) {
	return csv.NewCutter(file, s.Comma, chunkBytes, maxRecord), nil
}

func (r *runner) reader(stream int, src *source, chunk int) (_ *reader, err error) {
	f, err := src.open(r.fsys)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	cutter, err := r.cut(&r.a.Streams[stream], f, chunk, maxRecord)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.path, err)
	}
	header, err := cutter.Header()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.path, err)
	}
	p, err := parse.NewFile(r.a, stream, r.args, src.file, header)
	if err != nil {
		return nil, err
	}
	opened := &reader{stream: stream, file: src.file, cutter: cutter, parser: p, Closer: f}
	if r.a.NewFolder != nil && !r.a.Streams[stream].Reference {
		if opened.folder, err = r.a.NewFolder(r.args, stream); err != nil {
			return nil, err
		}
	}
	return opened, nil
}

// next parses the next chunk, and folds it if mayFold is set and the stream has a folder. After the last chunk it returns
// io.EOF.
func (r *reader) next(buf []byte, mayFold bool) (f frame, chunk []byte, rejects analyses.Rejects, err error) {
	chunk, line, err := r.cutter.Next(buf)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: %w", r.file.Name, err)
		}
		return frame{}, chunk, rejects, err
	}
	if _, rejects, err = r.parser.Chunk(chunk, line); err != nil {
		return frame{}, chunk, rejects, err
	}
	f = frame{stream: r.stream, pos: analyses.Position{File: r.file, Line: line}}
	if mayFold && r.folder != nil {
		if tables, ok := r.folder.Fold(r.parser.Builder(), f.pos); ok {
			f.folded = tables
			return f, chunk, rejects, nil
		}
	}
	f.payload, f.built = r.parser.Builder().Append(nil), r.parser.Builder().View()
	return f, chunk, rejects, nil
}

// pick returns the index of the file to read next: the first without a seed, a random one with a seed.
func pick(r *rand.Rand, n int) int {
	if r == nil {
		return 0
	}
	return r.IntN(n)
}
