// Command duckdb answers the queries of Posta's analyses with DuckDB, an embedded analytical database: the same 15 queries in
// SQL, over the same CSV files, in one process, without any durability. It shows what a single process can do.
//
//	go run . -analysis flights -data DIR          # the costs, and the first rows
//	go run . -analysis flights -data DIR -json    # the answers, as `posta results --json` prints them
//
// It is a separate module because DuckDB is a C++ library: Posta itself needs no C compiler.
//
// # Fair play
//
// DuckDB gets what makes it fast: as many threads as there are cores, its parallel CSV reader, declared types for only the
// needed columns, and each large file read once and folded as it comes. The comment of each analysis names other ways that
// were tried and were slower. The time runs from opening the database to the last answer, and includes reading the CSV.
//
// Functions in Go, Posta's own code, compute what SQL cannot express: Python's literals, and VADER's sentiment (functions.go).
//
// The answers must equal those of the oracles to the last bit, so sums are of whole numbers, of 64 or 128 bits (exact.go).
// Only distances may differ in their last digits, because DuckDB takes sines from the C library and Posta from Go's (package
// compare).
//
// # What it does not do
//
// It takes no parameters of analyses: the SQL contains their defaults. It does not report rejected rows. DuckDB skips rows that do
// not fit its types, by its own rules. It reads "2016.0" as a year and a time without a clock as a date, which Posta rejects. It
// drops rows with more fields than the header, which Posta accepts. In files with such rows the answers may differ, and a
// comparison will show it. Its files are sanitized (package sanitize), because it cannot read past broken quotes and bytes that are
// not UTF-8.
package main
