// Package exec runs the fragments into which a statement has been split: what parsers, joiners, aggregators and the reducer compute of it.
//
// A fragment where rows are is a [Leaf]: a table, the steps that its rows take ([plan.Filter], [plan.Project], [Unnest], [Broadcast]), and
// what is kept of them: groups in tables of package fold, the best rows, different rows, or all rows. A joiner computes the leaves of its
// streams in slices of 2048 rows, and so does a parser if that pays ([Fragments.NewFolder]). A fragment where groups and rows of several
// large tables meet is a [Region]. What is above both is computed by package operators, in the reducer.
//
// The package decides nothing about where something is computed. It knows no text of SQL but the statement's, which errors quote.
package exec
