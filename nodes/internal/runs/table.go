package runs

import (
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/fold"
)

// OfTable makes a run of the rows of a table, from a number on. Its entries are partials.
func OfTable(t *fold.Table, from int) *Builder {
	b := NewBuilder()
	var entry []byte
	for bucket, rows := range t.Bucketed(from) {
		for _, chunk := range t.Chunks(rows, role.PartialBytes) {
			entry = t.AppendRows(entry[:0], chunk)
			b.Add(bucket, entry)
		}
	}
	return b
}
