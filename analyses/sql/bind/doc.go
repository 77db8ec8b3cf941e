// Package bind gives names and types to what package syntax read: statements over tables become plans, in which every column is a
// number, every value has a type, and every conversion is written out.
//
//	program, err := bind.Bind(text, script, catalogue, params)
//	for _, s := range program.Statements {  s.Plan is a tree of Nodes, the last step at the top
//		…
//	}
//
// A [Node] reads the rows of the nodes below it; an [Expr] of a node reads the columns of its input by their index. A SELECT becomes,
// from the bottom to the top: its tables ([Scan], [Join], …), WHERE ([Filter]), GROUP BY ([Aggregation]), HAVING, windows ([Windows]), QUALIFY,
// its columns ([Project]), DISTINCT, ORDER BY and LIMIT ([Sort], [Limit]).
//
// # Names
//
// Names are compared without regard to case. A column of FROM wins over an alias, but in ORDER BY, where the alias wins, as in DuckDB. An alias stands for
// its expression in WHERE, GROUP BY, HAVING, QUALIFY and in later columns of its SELECT. The expression is bound once and shared, so a plan is
// a graph: whoever walks it remembers where it was. A name that is not found is answered with the nearest one.
//
// # GROUP BY
//
// An expression over groups may use keys, whole, and aggregates. Two expressions are the same if they are equal after binding: the
// interner gives equal ones one number, so the check is linear.
//
// Queries that look at the rows around them, UNNEST and read_csv are refused in words. Nothing here reads data or starts goroutines.
package bind
