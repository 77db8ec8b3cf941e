package client

import (
	"errors"
	"fmt"

	"posta.dev/posta/protocol"
)

// errRowsMissing is returned when an output skipped rows; it is a fault of the cluster.
var errRowsMissing = errors.New("rows are missing")

// assembler puts parts together. Parts are numbered by the output that gives them, rows by their place in their query: after
// a change of output the parts begin again, and rows that are here already are passed over.
type assembler struct {
	cfg      *Config
	counters *counters
	answer   *Answer
	after    uint64 // last part taken from the present output
	ended    map[string]bool
}

func newAssembler(c *Client) *assembler {
	in := &assembler{cfg: &c.cfg, counters: c.counters, ended: make(map[string]bool),
		answer: &Answer{Analysis: c.cfg.Analysis, Session: c.cfg.Session}}
	for _, name := range c.opened.Queries {
		in.answer.Queries = append(in.answer.Queries, Table{Name: name})
	}
	return in
}

func (in *assembler) restart() { in.after = 0 }

func (in *assembler) take(p *protocol.Part) error {
	if p.N <= in.after {
		return nil
	}
	in.after = p.N
	if p.Query == "" {
		in.answer.Rejected = p.Rejected
		return nil
	}
	t := in.table(p)
	have := uint64(t.rows)
	if p.Offset > have {
		return fmt.Errorf("part %d of query %s: %w between row %d and %d; ask again", p.N, p.Query, errRowsMissing, have, p.Offset)
	}
	rows := p.Rows.Skip(int(min(have-p.Offset, uint64(p.Rows.Len()))))
	if rows.Len() == 0 && (!p.Last || in.ended[p.Query]) {
		return nil
	}
	return in.add(t, rows, p.Last)
}

func (in *assembler) add(t *Table, rows protocol.Rows, last bool) error {
	t.rows += rows.Len()
	in.ended[t.Name] = in.ended[t.Name] || last
	in.counters.rows.Add(uint64(rows.Len()))
	if !in.cfg.StreamOnly {
		t.chunks = append(t.chunks, rows)
	}
	if in.cfg.OnRows == nil {
		return nil
	}
	return in.cfg.OnRows(t.Name, t.Columns, rows, last)
}

func (in *assembler) table(p *protocol.Part) *Table {
	t := in.answer.Query(p.Query)
	if t == nil {
		in.answer.Queries = append(in.answer.Queries, Table{Name: p.Query})
		t = &in.answer.Queries[len(in.answer.Queries)-1]
	}
	if t.Columns == nil {
		t.Columns = p.Columns
	}
	return t
}
