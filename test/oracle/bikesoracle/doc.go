// Package bikesoracle answers the queries of analysis bikes the obvious way: one goroutine, encoding/csv, maps and math/big.
// Tests and benchmarks compare the answers of package bikes with its answers, to the last bit (design D2). It shares no code
// with package bikes, only the shape of the answers. A rule that both need is written down with the queries, and implemented
// twice.
//
// It is meant for generated data and the samples (see package oraclecsv). It keeps whole tables in memory and is not part of
// the product.
package bikesoracle
