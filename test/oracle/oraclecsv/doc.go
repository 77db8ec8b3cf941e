// Package oraclecsv reads CSV files for the oracles of analyses in the obvious way: encoding/csv, a slice of strings per row,
// strconv for fields, math/big for means. Tests compare package csv with it, so it shares no code with package csv. The reasons
// of rejected rows have the same wording, because rejected rows are part of an answer.
//
// It is meant for generated data and the samples. The standard library's reader refuses quotes inside unquoted fields, which
// package csv accepts. It drops the carriage return before a newline in quoted fields, which package csv keeps. oraclecsv is
// not part of the product.
package oraclecsv
