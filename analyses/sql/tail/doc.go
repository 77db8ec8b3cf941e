// Package tail executes plans of package bind over rows in memory: an ordinary executor, which answers whatever a plan can say. It takes the
// rows of a plan's lowest nodes from a [Source]: tables, or what a cluster has folded already.
//
//	x := tail.New(source, 256<<20, plan)
//	rows, err := x.Run(plan)
//
// # How
//
// Rows go from node to node in batches. A Filter, a Project and a Limit hand on what they get; an Aggregation keeps its groups, and what has to
// see all its rows first (Sort, Windows, the right side of a Join) keeps those. What is kept is counted, and more than the limit is an error,
// [ErrMemory]. A node that several others read is computed once and kept.
//
// # Order
//
// The rows of a source have an order, that of (file, line). Filter, Project, Windows and Distinct keep it. The rows of a Join
// have the order of its left side, and for one left row that of the right side. Groups come by their keys, NULL last. Sort
// leaves equal rows in their order. So every plan has one answer, byte by byte, however its rows were cut into batches.
//
// # Errors
//
// A value that does not exist fails the statement with an [Error], which has the place in the statement and, where rows come straight from a
// table, the file and the line. Of several rows it is the first.
//
// Nothing here does I/O, reads a clock or starts a goroutine.
package tail
