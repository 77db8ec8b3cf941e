package role

import (
	"bytes"
	"fmt"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/rows/fold"
)

// PartialBytes is about how many bytes a frame of folded rows gets.
const PartialBytes = 512 << 10

// NewTables returns an empty table for each of the analysis' tables, and behind them the one for rejected rows. empty makes the kind of
// table that the role needs: joiners send what they fold (fold.NewOutgoing), aggregators merge it (fold.NewTable), reducers put partitions
// together (fold.NewUnion).
func NewTables(a *analyses.Analysis, empty func(*fold.Spec) *fold.Table) []*fold.Table {
	tables := make([]*fold.Table, len(a.Tables)+1)
	for i := range a.Tables {
		tables[i] = empty(&a.Tables[i])
	}
	tables[len(a.Tables)] = empty(&analyses.RejectedSpec)
	return tables
}

// TableStream returns the stream whose end completes table i. The rejected rows are complete with the end of the last stream.
func TableStream(a *analyses.Analysis, i int) int {
	if i < len(a.Tables) {
		if s := a.StreamIndex(a.Tables[i].Stream); s >= 0 {
			return s
		}
	}
	return len(a.Streams) - 1
}

// Complete reports whether all streams that complete table i have ended. Those of a table that aggregators make are the streams of
// what it is made of.
func Complete(a *analyses.Analysis, i int, ended []bool) bool {
	from := a.MadeOf(i)
	if len(from) == 0 {
		return ended[TableStream(a, i)]
	}
	return !slices.ContainsFunc(from, func(of int) bool { return !ended[TableStream(a, of)] })
}

// PartialEncoder makes payloads of rows, one after the other, with one scratch buffer.
type PartialEncoder struct{ scratch []byte }

// Encode returns some rows of table i, in memory that is as large as its content:
//
//	[table, rows bin]
//
// The payload is copied to its exact size because it waits in an outbox, where the window counts its length and not its capacity. A
// capacity that is chosen before the size is known would be several times the length.
func (p *PartialEncoder) Encode(i int, t *fold.Table, rows []int) []byte {
	return bytes.Clone(p.append(i, t, rows))
}

func (p *PartialEncoder) append(i int, t *fold.Table, rows []int) []byte {
	b := wire.AppendArray(p.scratch[:0], 2)
	b = wire.AppendUint(b, uint64(i))
	p.scratch = t.AppendRows(b, rows)
	return p.scratch
}

// Emit emits rows of table i in as many payloads as they need (R15). A row that is too large for a frame is an error that names the row.
func (p *PartialEncoder) Emit(out Emitter, partition, stream, i int, t *fold.Table, rows []int) error {
	limit := out.Limits().Frame
	for _, chunk := range t.Chunks(rows, min(PartialBytes, limit)) {
		if err := p.emit(out, partition, stream, i, t, chunk); err != nil {
			return err
		}
	}
	return nil
}

// emit emits rows, in halves if their payload turns out too large.
func (p *PartialEncoder) emit(out Emitter, partition, stream, i int, t *fold.Table, rows []int) error {
	payload := p.append(i, t, rows)
	limit := out.Limits().Frame
	switch n := len(rows) / 2; {
	case len(payload) <= limit:
		out.Emit(partition, Message{Stream: stream, Payload: bytes.Clone(payload)})
		return nil
	case n == 0:
		return TooLarge(fmt.Sprintf("stream %s: %s", t.Spec().Stream, t.Describe(rows[0])), len(payload), limit)
	default:
		if err := p.emit(out, partition, stream, i, t, rows[:n]); err != nil {
			return err
		}
		return p.emit(out, partition, stream, i, t, rows[n:])
	}
}

// Merge adds what a PartialEncoder wrote to its table.
func Merge(tables []*fold.Table, p []byte) error {
	t, rows, err := find(tables, p)
	if err != nil {
		return err
	}
	return t.Merge(rows)
}

// TableOf returns the index of the table whose rows a PartialEncoder wrote.
func TableOf(tables []*fold.Table, p []byte) (int, error) {
	t, _, err := find(tables, p)
	return slices.Index(tables, t), err
}

// RowsOf returns the rows in what a PartialEncoder wrote.
func RowsOf(tables []*fold.Table, p []byte) ([]byte, error) {
	_, rows, err := find(tables, p)
	return rows, err
}

func find(tables []*fold.Table, p []byte) (t *fold.Table, rows []byte, err error) {
	d := wire.NewReader(p)
	d.ArrayOf(2)
	i := d.Uint()
	rows = d.Rest()
	if err := d.Err(); err != nil {
		return nil, nil, fmt.Errorf("partial: %w", err)
	}
	if i >= uint64(len(tables)) {
		return nil, nil, fmt.Errorf("partial of table %d, there are %d: the nodes run different versions", i, len(tables))
	}
	return tables[i], rows, nil
}

// AppendTables appends all rows of all tables, for a snapshot:
//
//	[[rows bin, …], …]
//
// The rows are appended in pieces. A table written as one piece would be in memory three times meanwhile, and its scratch buffer would stay
// as large as the table.
func AppendTables(b []byte, tables []*fold.Table) []byte {
	var scratch []byte
	b = wire.AppendArray(b, len(tables))
	for _, t := range tables {
		chunks := t.Chunks(t.Rows(), PartialBytes)
		b = wire.AppendArray(slices.Grow(b, t.Bytes()), len(chunks)) // rather too much room than a copy when it is full
		for _, rows := range chunks {
			scratch = t.AppendRows(scratch[:0], rows)
			b = wire.AppendBin(b, scratch)
		}
	}
	return b
}

// ReadTables merges what AppendTables wrote.
func ReadTables(d *wire.Reader, tables []*fold.Table) error {
	n := d.Array()
	if d.Err() == nil && n != len(tables) {
		return fmt.Errorf("%d tables in the snapshot, %d in the analysis", n, len(tables))
	}
	for _, t := range tables {
		for n := d.Array(); n > 0; n-- {
			p := d.Bytes()
			if d.Err() != nil {
				return d.Err()
			}
			if err := t.Merge(p); err != nil {
				return err
			}
		}
	}
	return d.Err()
}
