// Command duckdb answers the queries of Posta's analyses with DuckDB, an embedded analytical database: the same 15 queries in
// SQL, over the same CSV files, in one process, with no guarantee at all. It is the yardstick for what a single process can do.
//
//	go run . -analysis flights -data DIR          # what it took, and the first rows
//	go run . -analysis flights -data DIR -json    # the answers, as `posta results --json` prints them
//
// It is a module of its own because DuckDB comes as a C++ library: Posta itself needs no C compiler.
//
// # Fair play
//
// DuckDB gets what makes it fast: as many threads as there are cores, its parallel CSV reader, the columns that are needed and
// their types told beforehand instead of guessed, each large file read once and folded as it comes. What was tried beside that
// and was slower stands at each analysis. The time runs from opening the database to the last answer, and the CSV is in it.
//
// What SQL has no words for is a function in Go, and is Posta's own code: Python's literals, and VADER's sentiment (functions.go).
//
// The answers must be those of the oracles to the last bit, so sums are of whole numbers, of 64 or 128 bits (exact.go). Only
// distances may differ in their last digits, as DuckDB takes sines from the C library and Posta from Go's (package compare).
//
// # What it does not do
//
// It takes no parameters of analyses: they are at their defaults, written into the SQL. It does not say which rows were rejected;
// DuckDB skips rows that do not fit its types, by its own rules: it reads "2016.0" as a year and a time without a clock
// as a date, which Posta rejects, and drops rows with more fields than the header has, which Posta takes. In files that have such
// rows the answers may differ, and whoever compares them will see it. Files are given to it tidied (package sanitize), as it cannot
// get past broken quotes and bytes that are not UTF-8.
package main
