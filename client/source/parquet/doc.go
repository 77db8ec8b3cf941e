// Package parquet turns a Parquet file into chunks of columns (package columnar), of which only those that an analysis needs are read.
//
// A column is found by its name, or by the path to it: "a.b[0].c" is c in the first item of the list b in the group a. Values become the
// text that they would have in a CSV file: a number has the fewest digits that read back to the same bits, a date is 2006-01-02, a time is
// 2006-01-02 15:04:05 with its fraction and without a zone, and null is an empty field.
//
// The file is never trusted. Sizes in it are compared with the size of the file before anything is read. All unpacked data is charged to
// one budget of memory ([MaxMemory]). Checksums are compared if there are any. Whatever breaks the format is an error that wraps
// [ErrDamaged]; valid features that are not read (encryption, rare codecs) give an error that wraps [ErrUnread]. So a small file that
// unpacks to a huge one costs time, but no memory.
//
// The reader is the project's own. Existing libraries decode values one by one into their own memory and trust the sizes in a file. This
// one decodes a page once, into the values that are sent, and turns each value of a dictionary into text only once.
//
//	footer.go   where the row groups and the pages of columns are
//	schema.go   which column a name means
//	column.go   pages of one column, in turn; words.go its dictionary
//	values.go   encodings of values; delta.go those of differences; hybrid.go levels and numbers of words; unpackbits.go the kernel of both
//	text.go     values as text; convert.go as what travels
//	take.go     blocks of values, which are taken or skipped
//	ranges.go   statistics, by which row groups without relevant rows are not read
//	cutter.go   rows, cut into chunks
//	writer.go   what is written; bounds.go its statistics, pageindex.go where its pages are
package parquet
