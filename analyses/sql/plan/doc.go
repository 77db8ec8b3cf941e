// Package plan holds what a statement computes: a tree of nodes, each of which makes rows of the rows of its inputs, and the expressions in
// them. Package bind makes plans of texts, and every later package reads them.
//
// Nodes and expressions may be shared: a query of WITH that is used twice is one node with two readers, and a part of an expression that
// stands in two columns is one expression. A walk through a plan remembers what it has seen.
//
// The package knows nothing of files, streams and hosts.
package plan
