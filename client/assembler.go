package client

import (
	"posta.dev/posta/client/core"
	"posta.dev/posta/protocol"
)

// assembler puts rows together, which come in their order and once.
type assembler struct {
	cfg    *Config
	answer *Answer
	news   uint64 // rows that came last
}

func newAssembler(cfg *Config, queries []string) *assembler {
	in := &assembler{cfg: cfg, answer: &Answer{Analysis: cfg.Analysis, Session: cfg.Session}}
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
	t.rows += rows.Len()
	if !in.cfg.StreamOnly {
		t.chunks = append(t.chunks, rows)
	}
	if in.cfg.OnRows == nil {
		return nil
	}
	return in.cfg.OnRows(t.Name, t.Columns, rows, last)
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
