// Package batch holds rows as typed columns, and their wire form: msgpack whose columns are byte blobs (design §11).
//
// Words. A spec lists the columns by name and [Kind]. A [Builder] collects rows column by column and appends their wire form
// to a frame. A [Batch] is a decoded frame: its columns are views into the frame, nothing is copied.
//
//	b := batch.NewBuilder(spec)
//	day, code := b.Int(0), b.Dict(1) // a hot loop keeps these
//	for each row {
//		rows := b.Rows()
//		day.Append(d); code.Append(c)
//		if the row turns out bad { b.Truncate(rows) }
//	}
//	frame = b.Append(frame[:0]); b.Reset()
//
//	got, err := batch.Decode(frame, spec)
//	codes := got.Dicts(1)
//	for e := range codes.Len() { resolve codes.Entry(e) once }
//	for r := range got.Rows() { use codes.Code(r) }
//
// A column of numbers costs as many bytes as its range needs, and a text column of few distinct values costs a code per row.
// So timestamps, years and station codes travel in one to four bytes; see format.go for the bytes.
//
// A frame comes from the network. [Decode] checks once every length against the bytes left and the number of rows, every code
// against its dictionary, and every offset against its neighbour, so views need no checks and cannot fail. The package never
// allocates because of a length it has read, and has no goroutines and no clock. The bytes that it writes depend only on the
// appended rows: not on removed rows, nor on what the builder held before.
package batch
