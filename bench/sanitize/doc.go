// Package sanitize copies CSV files without what not every reader can get past, so that contestants of a race can be given the same
// bytes: records whose quotes are broken, and bytes that are no UTF-8. DuckDB 1.1 loses everything behind a broken quote up to
// the end of its buffer, megabytes of good rows, and drops each row with such bytes whatever it is told to ignore.
//
// Everything else stays, byte for byte: rows that are too short or have values that do not parse, quoted line ends, byte order
// marks, both line ends, a missing newline at the end.
//
// It serves measurements and is no part of the product, which needs none of it.
package sanitize
