// Package split makes an analysis of a statement: what a node runs when a session brings a plan (Q1).
//
//	p := &split.Plan{Text: "SELECT …", Tables: …}    what a client asks; see Plan
//	b, err := p.Encode()                             what travels: the statement bound and optimised, once, in the client
//	s, err := split.Decode(b)                        what a node gets; see Session
//	a, err := s.Analysis()                           what it makes of it
//
// # Two halves
//
// The statement is bound to a plan, which the rules of package optimize make cheaper. Its lower part is computed where the rows are, by
// package exec, and its upper part in the reducer, by package operators (Q7). Between them are the plan's *leaves*. A leaf is a node over
// one table, with only filters, projections and joins with small tables below it. It keeps one of these:
//
//	groups   GROUP BY with aggregates that tables of package fold hold: joiners fold, aggregators merge
//	         (DISTINCT values of an aggregate are rows of a table of their own)
//	best     the rows that an ORDER BY with a small LIMIT can need: joiners keep the best, aggregators the best of these
//	first    the same for a LIMIT without an order
//	rows     all rows: they travel with their positions
//
// All leaves of one table share its stream. Each leaf sees every row of the stream.
//
// # Small tables
//
// A table is a reference stream if a statement reads few bytes of it. Every joiner has all of it, and joins rows of other tables
// with it, or with any plan over such tables. Package tail computes these plans in the joiner when the first facts come. See
// broadcast.
//
// # Large tables
//
// A join of large tables is computed in the aggregators if all of its parts have the same keys and something folds its rows. See region.
//
// # Sessions
//
// A plan is about one statement, or about several over the same tables, which share the scan (Q3, see shares). If rows can be
// filtered only with the answer of a query over a large table, this query runs first as a pass, a session of its own (Q7, see
// NextPass).
//
// # Order
//
// The position of a row is the name of its file, the line where its batch begins, and its place in the batch. The position of a joined row
// also has the numbers of its partners, before and after these, in the order of FROM. Rows of a leaf reach the tail in this order, and
// groups in the order of their keys. So the answer depends neither on how files are cut into chunks nor on the number of replicas.
//
// # Bounds
//
// A session has at most MaxPlan bytes, and its plans have the bounds of plan.Decode. MaxRowBytes bounds the rows that travel, and
// TailBytes what the tail keeps. Exceeding a bound is an error that names the bound.
package split
