// Package jsonl turns JSON Lines, one object in each line, into rows of CSV with the columns that an analysis needs.
//
// A column is found by its name: as a key of the object, or as a path into it. The path "a.b[0]" is the first item of the array "b" in the
// object "a". A string becomes its text; numbers, true and false stay as they are written; null and a missing value become an empty field;
// an object or an array becomes its JSON text. If the key of a column occurs twice in an object, the row is rejected, because the column
// has no single value.
//
// A line that is not a JSON object becomes a row that is rejected with the reason (N7), because the rest of the file may be right. If no
// line of the file has a needed column, that is an error of the file: most likely the column has another name there.
//
// Rows are cut into chunks as [csv.Cutter] does it. One line is one record, so line numbers are those of the file. Memory is that of a
// chunk and a line; a line of more than 16 MiB is refused.
package jsonl
