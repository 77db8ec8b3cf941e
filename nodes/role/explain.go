package role

import "fmt"

// Explain is deferred by a function that calls an analysis' code. It turns a panic of that code into an error (N6). If where is not nil, it
// adds to the error where it happened.
func Explain(err *error, where func() string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v", p)
	}
	if *err != nil && where != nil {
		*err = fmt.Errorf("%s: %w", where(), *err)
	}
}
