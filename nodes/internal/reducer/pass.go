package reducer

import (
	"errors"
	"fmt"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/rows/progress"
)

// passBytes is about how many bytes of rows are passed on at once.
const passBytes = 256 << 10

// pass turns folded rows into rows of a query's answer and passes them on; it keeps nothing. The outputs sort them. Merging sorted rows of
// all aggregators here was rejected: the reducer would have to make one aggregator wait for another, and with it every session that shares
// its link.
func (st *state) pass(query int, m role.Message, out role.Emitter) (err error) {
	q := &st.Analysis.Queries[query]
	defer role.Explain(&err, func() string { return "query " + q.Name })
	if st.passing == nil {
		st.passing = role.NewTables(st.Analysis, fold.NewUnion)
	}
	t := st.passing[st.Analysis.TableIndex(q.Tables[0])]
	t.Reset()
	if err := role.Merge(st.passing, m.Payload); err != nil {
		return err
	}
	limit := out.Limits().Frame
	p := role.Passed{Query: q.Name}
	send := func() {
		if len(p.Rows) > 0 {
			out.Emit(0, role.Message{Stream: m.Stream, Payload: p.Append(make([]byte, 0, len(p.Rows)+passRoom+len(q.Name)))})
			p.Rows = nil
		}
	}
	order := role.Order(q.Order)
	cells := make([]protocol.Value, order.Cells(len(q.Columns)))
	var row []byte
	var bad error
	add := func(values ...any) {
		if progress.Mark(); bad != nil {
			return
		}
		if bad = fill(cells, values); bad != nil {
			return
		}
		row = order.AppendRow(row[:0], cells)
		// An output must be able to send the row in one reply, which also has the columns' names.
		if room := limit - passRoom - len(q.Name); len(row)+longestReply(q.Columns) > room {
			bad = role.TooLarge(fmt.Sprintf("stream %s: a row of the answer to query %s", st.Analysis.Streams[m.Stream].Name, q.Name), len(row),
				room)
		} else if len(p.Rows) > 0 && len(p.Rows)+len(row) > min(passBytes, room) {
			send()
		}
		p.Rows = role.AppendRow(p.Rows, row)
	}
	if err := errors.Join(q.Rows(st.Args, t, add), bad, t.Err()); err != nil {
		return err
	}
	send()
	return nil
}

// passRoom is how many bytes a message of rows, or a reply with one row, has at most beside the row and the names.
const passRoom = 512

func longestReply(columns []string) (n int) {
	for _, c := range columns {
		n += len(c) + 5
	}
	return n
}

// passed emits the message that all rows of a query have been passed on.
func (st *state) passed(query int, put func([]byte)) error {
	q := &st.Analysis.Queries[query]
	p := role.Passed{Query: q.Name, Last: true, Columns: q.Columns, Order: q.Order}
	put(p.Append([]byte{lastPart}))
	return nil
}
