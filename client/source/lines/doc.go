// Package lines turns a file with one row in each line, which names its values by keys, into rows of CSV with the columns that an analysis
// needs. How a line is read is a matter of the format, see [Kind].
//
// A line that is no row becomes a row that is rejected with the reason (N7), because the rest of the file may be right. If no line of the
// file has a needed column, that is an error of the file: most likely the column has another name there.
//
// Rows are cut into chunks as [csv.Cutter] does it. One line is one record, so line numbers are those of the file. Memory is that of a
// chunk and a line; a line of more than 16 MiB is refused.
package lines
