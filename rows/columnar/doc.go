// Package columnar holds a chunk of records as typed columns. The rows of a columnar file, such as Parquet, travel to the
// parser in this form. As CSV, the client would have to format every value, and the parser to parse it again. Here a number
// travels as a number, and a word of a dictionary is sent once per chunk.
//
//	client                                     parser
//	w := NewWriter(columns)                    err := s.Reset(chunk, mapping, firstLine)
//	w.Column(0).AppendInt(Int, 7)              for s.Next() {
//	w.Column(1).AppendText(text)                       use s.Fields()
//	chunk = w.Append(chunk)                    }
//
// A value stands for the text that it has in a CSV file, and [Scanner.Fields] returns this text. So an analysis need not know
// in which form its rows came: it takes and rejects the same rows for the same reasons. An analysis can avoid parsing the text,
// see [Cells].
//
// Only values whose text parses to the same value are typed. All others travel as texts: years of more than four digits, decimals of more
// than 64 bits.
//
// Only the rows determine where a chunk ends. So reading the same file with the same limits gives the same chunks, to the bit
// (R17).
//
// A chunk comes from outside. [Scanner.Reset] checks all of it before it is used, and takes at most a small multiple of its length in
// memory.
package columnar
