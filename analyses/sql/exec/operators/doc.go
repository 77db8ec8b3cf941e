// Package operators executes plans over rows in memory. It answers every plan. It takes the rows of a plan's lowest nodes from a [Source]:
// tables, or what a cluster has already folded. The reducer computes with it what is above the fragments, an aggregator a part of a join,
// and a joiner the small sides of its joins and its queries.
//
//	x := operators.New(source, 256<<20, plan)
//	rows, err := x.Run(plan)
//
// # How
//
// Rows go from node to node in batches. A Filter, a Project and a Limit pass on what they get, and an Aggregation keeps its groups. A
// node that must see all its rows first (Sort, Windows, the right side of a Join) keeps these. What is kept is counted. Beyond the limit,
// rows move to files if there is a place for them ([Executor.SetScratch]); what cannot move, and everything without such a place, is an
// error, [ErrMemory]. A node that several others read is computed once and kept.
//
// # Order
//
// The rows of a source are ordered by (file, line). Filter, Project, Windows and Distinct keep this order. The rows of a Join
// have the order of its left side; those of one left row have the order of the right side. Groups are ordered by their keys,
// NULL last. Sort keeps the order of equal rows. So every plan has one answer, byte for byte, however its rows were cut into
// batches.
//
// # Errors
//
// A value that cannot be computed fails the statement with a [values.Error]. It has the place in the statement and, if rows come straight
// from a table, the file and the line. If several rows fail, it is the error of the first.
//
// The package reads no clock and starts no goroutine, and its only I/O is that of the files for rows.
package operators
