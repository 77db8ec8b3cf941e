// Package types determines the types of literals, operators, functions and aggregates, and which type converts implicitly to
// which. It knows nothing of trees and of rows; package bind asks it about each expression.
//
//	t, _, err := types.Parse("DECIMAL", []int{9, 2}, false)     the type behind a name
//	t, err = types.Binary("+", types.BigInt, t)                 what an operator gives
//	o, err := types.Find("substring").Resolve(args)             which form of a function is meant, and what it gives
//
// The functions are data ([Functions]): forms, NULL, errors, one line about each. What the documentation lists is made of it.
//
// The rules are DuckDB's with these differences. Integers are BIGINT, whatever their size; smaller types check their range when a value is cast to
// them. A DECIMAL has at most 18 digits: a BIGINT beside a DECIMAL is taken for DECIMAL(18, s), results have as many digits as they
// need up to 18, and a value that does not fit fails the session. TEXT is never taken for a number or a date, nor the other way round;
// only literals are. A number is not taken for a BOOLEAN. // divides
// BIGINTs alone.
package types
