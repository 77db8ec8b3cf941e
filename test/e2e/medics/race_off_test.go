//go:build !race

package medics

// underLoad are settings for a test that loads everything to the full: the default ones are to hold.
var underLoad = map[string]string{}
