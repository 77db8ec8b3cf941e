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
// A number column costs as many bytes as its range needs and text of few values costs a code per row, so timestamps, years
// and station codes travel in one to four bytes; see format.go for the bytes.
//
// A frame comes from the network: [Decode] checks every length against what is left and against the number of rows, every
// code against its dictionary and every offset against its neighbour, once, so that views need no checks of their own and
// cannot fail. The package never allocates on behalf of a length it has read, has no goroutines and no clock, and the
// bytes it writes depend on the appended rows alone: not on rows taken back, nor on what the builder held before.
package batch
