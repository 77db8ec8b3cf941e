// Package infer finds the columns of a table and their types from samples of its files.
//
//	var t infer.Table
//	err := t.File("montreal/trips.csv", header)        its columns, by name, added to those of the other files
//	t.Typed(columns)                                   those of a file that declares their types
//	t.Rows(header, sample)                             whole records from anywhere in it
//	columns := t.Columns()                             names and types, in the order in which they were found
//
// A column is BIGINT, DOUBLE, DATE, TIMESTAMP or BOOLEAN if every value in the samples is, else TEXT. A column without a value in any
// sample is TEXT. The same files and samples, in the same order, give the same columns.
//
// A value outside the samples may need a wider type. [Wider] is the error for this. It carries the type, so the client can call
// [Table.Widen] and start again. The package reads no files.
package infer
