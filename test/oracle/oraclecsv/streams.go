package oraclecsv

import (
	"fmt"
	"path/filepath"

	"posta.dev/posta/analyses/answer"
)

// Stream is a stream of one file.
type Stream struct {
	Name, File string
	Comma      rune // 0 is ','
	Columns    []string
	Row        func(f []string) error
}

// ReadStreams reads the files of streams, in this order, and returns what was rejected.
func ReadStreams(dir string, streams ...Stream) (all []answer.Rejected, err error) {
	for _, s := range streams {
		if s.Comma == 0 {
			s.Comma = ','
		}
		rejected := answer.Rejected{Stream: s.Name}
		if err := Read(filepath.Join(dir, s.File), s.File, s.Comma, s.Columns, &rejected.Rejects, s.Row); err != nil {
			return nil, fmt.Errorf("oracle: %w", err)
		}
		all = append(all, rejected)
	}
	return all, nil
}
