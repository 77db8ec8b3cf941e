//go:build race

package medics

// underLoad are settings for a test that loads everything to the full. The race detector makes nodes ten times slower, and a turn of their
// loop with it, in which they say nothing.
var underLoad = map[string]string{"medics.suspect_after": "8s"}
