// Package flightsoracle answers the queries of analysis flights the obvious way: one goroutine, encoding/csv, maps, slices of
// all fares and math/big. Tests and benchmarks compare the answers of package flights with its answers, to the last bit (design
// D2). It shares no code with package flights, only the shape of the answers. A rule that both need is written down with the
// queries, and implemented twice.
//
// It does not bound its memory and is not part of the product.
package flightsoracle
