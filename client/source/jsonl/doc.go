// Package jsonl turns JSON Lines into rows of CSV: one object in each line, of which the columns that an analysis needs are taken.
//
// A column is found by its name: as a key of the object, or as a path into it, "a.b[0]" for the first item of what is "b" in what is "a". The text of a
// string is the field; numbers, true and false are taken as they are written; null, and what is not there, is an empty field; an object or an array is
// given as its JSON text. A key that is there twice, where a column is taken from it, has no single value: the row is rejected.
//
// A line that is no JSON object becomes a row that is rejected with the reason (N7), since the rest of the file may well be right. A column
// that no line of the file has is an error of the file: most likely it has another name there.
//
// Rows are cut into chunks as [csv.Cutter] does it, and one line is one record, so line numbers are those of the file. Memory is that of a chunk and
// of a line, of which more than 16 MiB is refused.
package jsonl
