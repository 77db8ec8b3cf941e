// Package sqldiff compares Posta's SQL with DuckDB: the same random statements over the same random tables, answered by analyses/sql/tail and by
// DuckDB, have to give the same rows, to the bit.
//
// Statements are of the whole dialect: joins of all kinds, side by side and nested, queries as values, also of the row around them, WITH, groups and grouping
// sets, windows with frames, QUALIFY, DISTINCT ON, set operations, functions of texts, numbers and dates. What is compared with DuckDB is the answer of one
// process; that nodes, which fold and merge, give the same bits is a test of its own (nodes_test.go), and so is what follows from the meaning of a condition
// (edges_test.go). More of them: go test ./sqldiff -run Random -seed 1000 -worlds 10000
//
// Tables hold NULLs, extremes, duplicates, odd texts, and DOUBLEs with few binary digits, so that sums are exact in whatever order they are made. Where an answer is
// rounded differently on purpose (avg of large BIGINTs, variances), it may differ by a few units in the last place; see compare.go.
//
// The 22 queries of TPC-H (examples/sql/tpch.sql) are compared over files, as nodes run them; go test -run TPCH -tpch 600000 takes a larger scale.
//
// What random statements seldom meet stands in edges_test.go, with each difference that was found.
package sqldiff
