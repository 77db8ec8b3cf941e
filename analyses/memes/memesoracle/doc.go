// Package memesoracle answers the queries of analysis memes the obvious way: one goroutine, encoding/csv, strings.ToLower, maps
// of all posts and math/big. Tests and benchmarks hold the real one to it, to the last bit (design D2). It shares no code with
// package memes, only the shape of the answers; where both needed the same rule, the rule is in queries, not in a function.
//
// It keeps what it likes in memory and is no part of the product.
package memesoracle
