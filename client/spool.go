package client

import (
	"fmt"
	"os"

	"posta.dev/posta/protocol"
)

// spoolMemory is how many bytes of an answer's rows are kept in memory. Most answers are shorter and never see a disk.
const spoolMemory = 8 << 20

// spool keeps the rows of an answer of any length. Rows beyond spoolMemory go to a temporary file. The name of this file is removed before
// anything is written, so the file disappears when the process ends, for whatever reason. The file is closed when the answer is
// garbage-collected.
//
// All output formats but one have to keep rows: queries are answered in another order than they are printed in, the rejected rows come
// last, and the types of PostgreSQL's columns depend on all of their values.
type spool struct {
	file   *os.File // nil if none was needed yet
	memory int      // bytes of pieces in memory
	end    int64    // of the file
}

// piece is some rows of a query, in memory, or, if n is not 0, in the file.
type piece struct {
	rows     protocol.Rows
	at       int64
	bytes, n int
	width    int
}

func (s *spool) keep(rows protocol.Rows) (piece, error) {
	b := rows.Encoded()
	if s.memory+len(b) <= spoolMemory || len(b) == 0 {
		s.memory += len(b)
		return piece{rows: rows}, nil
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "posta-answer-*")
		if err != nil {
			return piece{}, fmt.Errorf("a temporary file for a long answer: %w; TMPDIR names another directory", err)
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return piece{}, fmt.Errorf("a temporary file for a long answer: %w", err)
		}
	}
	if _, err := s.file.WriteAt(b, s.end); err != nil {
		return piece{}, fmt.Errorf("a temporary file in %s for a long answer: %w; TMPDIR names another directory", os.TempDir(), err)
	}
	p := piece{at: s.end, bytes: len(b), n: rows.Len(), width: rows.Width()}
	s.end += int64(len(b))
	return p, nil
}

// read returns a piece's rows. Those from the file are valid until memory is used again.
func (p *piece) read(s *spool, memory *[]byte) (protocol.Rows, error) {
	if p.n == 0 {
		return p.rows, nil
	}
	if cap(*memory) < p.bytes {
		*memory = make([]byte, p.bytes)
	}
	b := (*memory)[:p.bytes]
	if _, err := s.file.ReadAt(b, p.at); err != nil {
		return protocol.Rows{}, fmt.Errorf("read the temporary file: %w", err)
	}
	return protocol.RowsFrom(p.width, p.n, b)
}

// Keeper keeps the rows of tables as an answer's rows are kept: few in memory, and the rest in a temporary file.
type Keeper struct{ spool spool }

// Add adds rows to a table. All rows of a table have to be added by one Keeper, which may hold several tables. The rows must not change
// afterwards.
func (k *Keeper) Add(t *Table, rows protocol.Rows) error {
	p, err := k.spool.keep(rows)
	if err != nil {
		return fmt.Errorf("keep the answer to query %s: %w", t.Name, err)
	}
	t.chunks, t.spool, t.rows = append(t.chunks, p), &k.spool, t.rows+rows.Len()
	return nil
}
