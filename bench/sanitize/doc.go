// Package sanitize copies CSV files without records that some readers cannot read, so that all contestants of a race
// get the same bytes. It leaves out records with broken quotes and with bytes that are not UTF-8. DuckDB loses
// everything after a broken quote up to the end of its buffer, megabytes of good rows. It also drops each row with
// bytes that are not UTF-8, whatever its options.
//
// Everything else stays, byte for byte: rows that are too short or have values that do not parse, quoted line ends, byte order
// marks, both kinds of line ends, a missing newline at the end.
//
// It is for measurements only. Posta itself reads files as they are.
package sanitize
