// Package values copies, compares, orders and encodes the values of vectors.
//
//	values.Append, Cut      the form in which values travel, and in which keys are compared
//	values.Compare, Sort    the order of values and of rows
//	values.Gather, Window   some rows of a vector
package values
