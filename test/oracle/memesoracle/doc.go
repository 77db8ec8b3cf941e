// Package memesoracle answers the queries of analysis memes the obvious way: one goroutine, encoding/csv, strings.ToLower, maps
// of all posts and math/big. Tests and benchmarks compare the answers of package memes with its answers, to the last bit
// (design D2). It shares no code with package memes, only the shape of the answers. A rule that both need is written down with
// the queries, and implemented twice.
//
// It does not bound its memory and is not part of the product.
package memesoracle
