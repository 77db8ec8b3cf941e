package role

import "fmt"

// Explain is deferred by a function that calls an analysis' code. It makes an error of a panic in there (N6), and adds to an error where
// it happened, if where is not nil.
func Explain(err *error, where func() string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v", p)
	}
	if *err != nil && where != nil {
		*err = fmt.Errorf("%s: %w", where(), *err)
	}
}
