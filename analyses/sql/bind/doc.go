// Package bind gives names and types to what package syntax read: statements over tables become plans, in which every column is a
// number, every value has a type, and every conversion is written out.
//
//	program, err := bind.Bind(text, script, catalogue, params)
//	for _, s := range program.Statements {  s.Plan is a tree of Nodes, the last step at the top
//		…
//	}
//
// A [Node] reads the rows of the nodes below it; an [Expr] of a node reads the columns of its input by their index. A SELECT becomes,
// from the bottom to the top: its tables ([Scan], [Join], …), WHERE ([Filter]), GROUP BY ([Aggregation]), HAVING, windows ([Windows]),
// QUALIFY, its columns ([Project]), DISTINCT, ORDER BY and LIMIT ([Sort], [Limit]).
//
// # Names
//
// Names are compared without regard to case. A column of FROM wins over an alias; only in ORDER BY the alias wins, as in
// DuckDB. An alias stands for its expression in WHERE, GROUP BY, HAVING, QUALIFY and in later columns of its SELECT. The
// expression is bound once and shared, so a plan is a graph: code that walks it must remember the parts it has visited. The
// error about an unknown name suggests the nearest one.
//
// # GROUP BY
//
// An expression over groups may use aggregates and whole keys. Two expressions are the same if they are equal after binding:
// the interner gives equal ones one number, so the check is linear.
//
// # Queries as values
//
// A query that does not read the row around it is a [Subquery]. A correlated one is joined with the rows around it. EXISTS and
// IN in WHERE become SEMI and ANTI joins. Each other query is grouped by its expressions that are compared with the outer row,
// and then joined by a LEFT join. So a finished plan has no correlated query. A comparison with the outer row by another
// operator than = is refused, except in EXISTS and IN beside an =.
//
// # WHERE
//
// The parts of a condition are pushed down to the tables whose columns they use: see sink.go.
//
// Nothing here reads data or starts goroutines.
package bind
