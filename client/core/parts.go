package core

import (
	"fmt"

	"posta.dev/posta/protocol"
)

// parts records which rows of the answer have arrived. Each output numbers its parts itself; rows are numbered by their place in their
// query. After a change of output the parts begin again, and rows that arrived before are skipped.
type parts struct {
	after uint64            // last part taken from the present output
	rows  map[string]uint64 // taken, by query
	ended map[string]bool   // queries that are complete, and "" for the rejected rows
}

func newParts() parts { return parts{rows: map[string]uint64{}, ended: map[string]bool{}} }

// restart prepares for another output, which numbers its parts itself.
func (in *parts) restart() { in.after = 0 }

// take returns what is new in a part; some is false if nothing is.
func (in *parts) take(p *protocol.Part) (r Rows, some bool, err error) {
	if p.N <= in.after {
		return r, false, nil
	}
	if p.N > in.after+1 {
		return r, false, fmt.Errorf("part %d came after part %d: %w; ask again", p.N, in.after, errRowsMissing)
	}
	in.after = p.N
	if p.Query == "" {
		some, in.ended[""] = !in.ended[""], true
		return Rows{Rejected: p.Rejected}, some, nil
	}
	have := in.rows[p.Query]
	if p.Offset > have {
		return r, false, fmt.Errorf("part %d of query %s: %w between row %d and %d; ask again", p.N, p.Query, errRowsMissing, have, p.Offset)
	}
	rows := p.Rows.Skip(int(min(have-p.Offset, uint64(p.Rows.Len()))))
	if rows.Len() == 0 && (!p.Last || in.ended[p.Query]) {
		return r, false, nil
	}
	in.rows[p.Query] += uint64(rows.Len())
	in.ended[p.Query] = in.ended[p.Query] || p.Last
	return Rows{Query: p.Query, Columns: p.Columns, Rows: rows, Last: p.Last}, true, nil
}
