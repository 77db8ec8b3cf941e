// Package lazy holds back work that most runs of a program never need. What a package computes for its variables is computed whenever
// the program starts, also for a question that takes less time than that.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles an expression at its first call. It panics then if the expression is wrong, so each needs a test.
func Regexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
