// Package eval computes bound expressions for many rows at once.
//
//	p, err := eval.Compile(expr)                ErrUnsupported: a function or type that has no kernel yet
//	v, err := p.Run(columns, n, sel)            values of the rows in sel; of all n rows if it is nil
//
// An expression becomes a tree of kernels; each holds the [Vector] that it writes to, so a run allocates nothing once it has
// seen a batch of that size. A kernel is called once for a batch and loops over the selected rows with the type and the
// operator fixed outside of the loop. Values at rows that are not selected are undefined.
//
// # What is not computed
//
// AND and OR compute their right side only for rows that the left side does not decide. CASE, coalesce and if compute only the
// branch that is taken. So a condition can guard an expression against an error.
//
// # Errors
//
// If an expression fails for several rows, [Error] names the first of them. After an error Run computes only the rows before
// it, until none of these fails. So the message does not depend on how rows were cut into batches.
//
// The kernels were compared with DuckDB 1.5 on 3,000 random expressions. These showed what DuckDB does for the least BIGINT
// divided by -1 and for DOUBLE % 0.
//
// Every type of [types.Kind] has kernels. An operation without a kernel, such as the comparison of INTERVALs, is
// [ErrUnsupported]. testdata/functions.txt has an expression and its value in each line; DuckDB 1.5 gives the same ones
// (package sqldiff of bench/rivals).
package eval
