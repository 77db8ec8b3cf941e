package local

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"posta.dev/posta/analyses"
)

var (
	// ErrNoFile is wrapped by the error for a stream without a file.
	ErrNoFile = errors.New("no file for the stream")
	// ErrDuplicateKey is wrapped by the error for a file that exists both packed and unpacked: its rows would count twice.
	ErrDuplicateKey = errors.New("file is there twice")
)

// maxRecord bounds a CSV record, in bytes.
const maxRecord = 16 << 20

// source is a file of a stream.
type source struct {
	file analyses.File
	path string
}

// sources finds the files of a stream, by name.
func sources(fsys fs.FS, s *analyses.Stream) ([]source, error) {
	var found []source
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if f, ok := s.Match(path); ok {
			found = append(found, source{f, path})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find files of stream %s: %w", s.Name, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w %s: nothing matches %s or %[3]s.gz", ErrNoFile, s.Name, s.Files)
	}
	slices.SortFunc(found, func(a, b source) int {
		return cmp.Or(strings.Compare(a.file.Name, b.file.Name), strings.Compare(a.path, b.path))
	})
	for i := 1; i < len(found); i++ {
		if found[i].file.Name == found[i-1].file.Name {
			return nil, fmt.Errorf("%w: %s and %s; remove one", ErrDuplicateKey, found[i-1].path, found[i].path)
		}
	}
	return found, nil
}

func (s *source) open(fsys fs.FS) (io.ReadCloser, error) {
	f, err := fsys.Open(s.path)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(s.path, ".gz") {
		return f, nil
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("unpack %s: %w", s.path, err), f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}
