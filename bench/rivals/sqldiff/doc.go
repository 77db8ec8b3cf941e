// Package sqldiff compares Posta's SQL with DuckDB: analyses/sql/exec/operators and DuckDB answer the same random statements over the same
// random tables, and must give the same rows, to the bit.
//
// Statements use the whole dialect: joins of all kinds, side by side and nested, queries as values, including correlated ones, WITH, groups
// and grouping sets, windows with frames, QUALIFY, DISTINCT ON, set operations, functions of texts, numbers and dates. The answer of one
// process is compared with DuckDB. Another test (nodes_test.go) shows that nodes, which fold and merge, give the same bits, and
// edges_test.go tests what follows from the meaning of a condition. For more statements: go test ./sqldiff -run Random -seed 1000 -worlds
// 10000
//
// Tables hold NULLs, extremes, duplicates, odd texts, and DOUBLEs with few binary digits, so that sums are exact in any order. Where Posta
// rounds differently on purpose (avg of large BIGINTs, variances), an answer may differ by a few units in the last place; see compare.go.
//
// The 22 queries of TPC-H (examples/sql/tpch.sql) are compared over files, as nodes run them; go test -run TPCH -tpch 600000 takes a larger
// scale.
//
// options_test.go compares files that are not CSV with a header, and edges_test.go has what random statements seldom produce, with each
// difference that was found.
package sqldiff
