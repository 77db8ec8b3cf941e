// Package eval computes bound expressions for many rows at once.
//
//	p, err := eval.Compile(expr)                ErrUnsupported: a function or type that has no kernel yet
//	v, err := p.Run(columns, n, sel)            values of the rows in sel; of all n rows if it is nil
//
// An expression becomes a tree of kernels; each holds the [Vector] that it writes to, so a run allocates nothing once it has seen a batch of
// that size. A kernel is called once for a batch and loops over the selected rows with the type and the operator fixed outside of the loop.
// Values at rows that are not selected are whatever was there before.
//
// # What is not computed
//
// AND and OR compute their right side only for rows that the left one leaves open, CASE, coalesce and if only the branch that is taken. So
// what guards against an error does guard.
//
// # Errors
//
// Of all rows for which an expression fails, [Error] names the least: Run narrows the selection to the rows in front of an error until
// none is left, so the message does not depend on how rows were cut into batches.
//
// The kernels were compared with DuckDB 1.5 on 3,000 random expressions, from which the division of the least BIGINT by -1 and DOUBLE % 0 come.
//
// There are kernels for BIGINT, DOUBLE, BOOLEAN, TEXT, DATE and TIMESTAMP: arithmetic, comparisons, three-valued logic, conditions, IN,
// LIKE, length, contains, starts_with, ends_with, and casts between numbers and from DATE to TIMESTAMP. Other functions, DECIMAL, INTERVAL and lists are not there yet.
package eval
