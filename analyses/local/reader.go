package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/parse"
	"posta.dev/posta/rows/csv"
)

// frame is a parsed batch on its way to a joiner.
type frame struct {
	stream  int
	pos     analyses.Position
	payload []byte
}

// reader is an open file of a stream.
type reader struct {
	stream int
	file   analyses.File
	cutter *csv.Cutter
	parser *parse.FileParser
	io.Closer
}

func openReader(a *analyses.Analysis, args analyses.Args, stream int, src *source, fsys fs.FS, chunk int) (*reader, error) {
	f, err := src.open(fsys)
	if err != nil {
		return nil, err
	}
	cutter := csv.NewCutter(f, a.Streams[stream].Comma, chunk, maxRecord)
	header, err := cutter.Header()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", src.path, err), f.Close())
	}
	p, err := parse.NewFile(a, stream, args, src.file, header)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &reader{stream, src.file, cutter, p, f}, nil
}

// next parses the next chunk; io.EOF after the last.
func (r *reader) next(buf []byte) (f frame, chunk []byte, rejects analyses.Rejects, err error) {
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
	f = frame{r.stream, analyses.Position{File: r.file, Line: line}, r.parser.Builder().Append(nil)}
	return f, chunk, rejects, nil
}

// pick returns the index of the file to read next: the first, or any.
func pick(r *rand.Rand, n int) int {
	if r == nil {
		return 0
	}
	return r.IntN(n)
}
