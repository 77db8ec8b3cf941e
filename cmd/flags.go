package cmd

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// isTold reports whether help shows a flag.
func isTold(f cli.Flag) bool {
	v, ok := f.(cli.VisibleFlag)
	return !ok || v.IsVisible()
}

// dashed returns a flag as people write it.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// placeholder returns the word in backticks, which stands for a flag's value, and the usage without backticks. cli shows them in the same
// way.
func placeholder(usage string) (value, text string) {
	before, rest, _ := strings.Cut(usage, "`")
	value, after, found := strings.Cut(rest, "`")
	if !found {
		return "VALUE", usage
	}
	return value, before + value + after
}
