// Command suites runs test suites that strangers wrote through the posta program, and compares its answers with those of DuckDB, as a user
// would. The suites are not part of Posta: it is told where they are.
//
//	go run ./suites -posta ../../bin/posta duckdb  FOLDER    files of DuckDB's test/sql, *.test
//	go run ./suites -posta ../../bin/posta parquet FOLDER    any Parquet files, as those of apache/parquet-testing
//	go run ./suites json FOLDER                              test_parsing of nst/JSONTestSuite, without the program
//
// A file of DuckDB's tests is a script of statements and queries. DuckDB carries out the statements; its tables are then written to Parquet
// files, and posta answers the queries over these. What DuckDB answers in this process is the reference, not what the file expects, since
// versions differ. Each query ends in one of these:
//
//	equal        the same rows; in the same order, if the query ends with ORDER BY ALL
//	refused      posta refuses the statement in words, before it runs (Q4)
//	failed       posta fails while it runs, in words, and DuckDB answers
//	deliberate   the answer differs, and docs/sql.md or deliberate.go says why
//	wrong        the answer differs, or what refuses the statement are the words of a node
//	panic, hang  what must never be
//
// A Parquet file's rows are compared as docs/data.md says that they are read: the fields of a group are columns, and times have no zones.
//
// A file of JSONTestSuite is one value in a line of JSON Lines. It is equal if it is read with its value, or rejected, as its name demands;
// what the name leaves to the parser is deliberate.
//
// The command prints each wrong answer, panic and hang, and the counts. It exits with 1 if there is one.
package main
