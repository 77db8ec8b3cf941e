package client

import (
	"bytes"
	"fmt"

	"posta.dev/posta/client/core"
	"posta.dev/posta/protocol"
)

// assembler builds the answer from rows, each of which comes once and in its order.
type assembler struct {
	cfg    *Config
	answer *Answer
	spool  *spool
	news   uint64 // number of rows in the last take
}

func newAssembler(cfg *Config, queries []string) *assembler {
	in := &assembler{cfg: cfg, spool: new(spool), answer: &Answer{Analysis: cfg.Analysis, Session: cfg.Session}}
	for _, name := range queries {
		in.answer.Queries = append(in.answer.Queries, Table{Name: name})
	}
	return in
}

func (in *assembler) take(all []core.Rows) error {
	in.news = 0
	for i := range all {
		r := &all[i]
		if r.Query == "" {
			in.answer.Rejected = r.Rejected
			continue
		}
		in.news += uint64(r.Rows.Len())
		if err := in.add(in.table(r), r.Rows, r.Last); err != nil {
			return err
		}
	}
	return nil
}

func (in *assembler) add(t *Table, rows protocol.Rows, last bool) error {
	if err := in.keep(t, rows); err != nil {
		return err
	}
	t.rows += rows.Len()
	if in.cfg.OnRows == nil {
		return nil
	}
	return in.cfg.OnRows(t.Name, t.Columns, rows, last)
}

// keep keeps the rows that the answer should have. With Config.Keep they are copied, because they would otherwise hold a large reply in
// memory.
func (in *assembler) keep(t *Table, rows protocol.Rows) error {
	switch first := in.cfg.Keep - t.rows; {
	case in.cfg.StreamOnly, in.cfg.Keep > 0 && first <= 0:
		return nil
	case in.cfg.Keep > 0:
		few := rows.First(min(first, rows.Len()))
		few, err := protocol.RowsFrom(few.Width(), few.Len(), bytes.Clone(few.Encoded()))
		t.chunks = append(t.chunks, piece{rows: few})
		return err
	}
	p, err := in.spool.keep(rows)
	if err != nil {
		return fmt.Errorf("keep the answer to query %s: %w", t.Name, err)
	}
	t.chunks, t.spool = append(t.chunks, p), in.spool
	return nil
}

func (in *assembler) table(r *core.Rows) *Table {
	t := in.answer.Query(r.Query)
	if t == nil {
		in.answer.Queries = append(in.answer.Queries, Table{Name: r.Query})
		t = &in.answer.Queries[len(in.answer.Queries)-1]
	}
	if t.Columns == nil {
		t.Columns = r.Columns
	}
	return t
}

// done returns the answer, unless the task that brought it ended with an error.
func (in *assembler) done(err error) (*Answer, error) {
	if err != nil {
		return nil, err
	}
	return in.answer, nil
}
