// Package bikesoracle answers the queries of analysis bikes the obvious way: one goroutine, encoding/csv, maps and math/big.
// Tests and benchmarks hold the real one to it, to the last bit (design D2). It shares no code with package bikes, only the
// shape of the answers; where both needed the same rule, the rule is in queries, not in a function.
//
// It is meant for generated data and the samples (see package oraclecsv). It keeps whole tables in memory and is no part of
// the product.
package bikesoracle
