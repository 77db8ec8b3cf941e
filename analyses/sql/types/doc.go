// Package types determines the types of literals, operators, functions and aggregates, and which types convert implicitly to
// which. It knows neither trees nor rows; package bind asks it about each expression.
//
//	t, _, err := types.Parse("DECIMAL", []int{9, 2}, false)     the type of a name
//	t, err = types.Binary("+", types.BigInt, t)                 what an operator gives
//	o, err := types.Find("substring").Resolve(args)             which form of a function is meant, and what it gives
//
// The functions are data ([Functions]): forms, treatment of NULL, errors, and one line about each. The documentation lists
// them from this data.
//
// The rules are DuckDB's with these differences. Integers are BIGINT, whatever their size; smaller types check their range when a value is
// cast to them. A DECIMAL has at most 18 digits: a BIGINT beside a DECIMAL counts as DECIMAL(18, s), results have as many digits as they
// need up to 18, and a value that does not fit fails the session. TEXT does not convert implicitly to a number or a date, nor these to
// TEXT; only literals do. A number does not convert implicitly to a BOOLEAN. // divides only BIGINTs.
package types
