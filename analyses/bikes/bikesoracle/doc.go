// Package bikesoracle answers the queries of analysis bikes the obvious way: one goroutine, encoding/csv, maps and math/big.
// Tests and benchmarks compare the answers of package bikes with its answers, to the last bit (design D2). It shares no code
// with package bikes, only the shape of the answers; a rule that both need is written down with the queries, not shared as a
// function.
//
// It is meant for generated data and the samples (see package oraclecsv). It keeps whole tables in memory and is not part of
// the product.
package bikesoracle
