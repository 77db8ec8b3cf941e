package columnar

import "posta.dev/posta/rows/csv"

// Test is a condition on the values of one column. Rows that fail it do not count, whatever their other columns have, and nothing is lost
// if these are NULL. So a format that can read one column without the others tests its values first, and reads of the others only what the
// rows that pass have (late materialisation). A test never fails for a value, and a row that fails it may be sent all the same.
type Test struct {
	Column int  // index among the columns that are needed
	Ask    Ask  // the kind of numbers that a tester takes; the zero Ask, if it takes texts
	Null   bool // whether NULL passes
	// May reports whether any value in a range may pass. Of a column that may have NULLs, NULL is one of the values.
	May func(r csv.Range) bool
	// Only has the only values that may pass; nil if there may be others.
	Only *Only
	New  func() Tester // a tester for one goroutine
}

// Only is a few values: those of one kind as the numbers that a tester takes, or texts. NULL is none of them.
type Only struct {
	Ints  []int64
	Texts []string
}

// Tester tests values, at most [MaxRun] at once.
type Tester interface {
	// Numbers sets whether numbers pass: integers of the test's kind, or the bits of floats.
	Numbers(values []int64, pass []bool)
	// Texts sets whether texts pass.
	Texts(values *Texts, pass []bool)
}

// Numbers reports whether numbers of a kind are those that are asked for, once they are multiplied by power. Only numbers from low to high
// are; others come as text.
func (a *Ask) Numbers(kind Kind) (power, low, high int64, ok bool) {
	if kind == Float || a.Kind == Float {
		return 1, 0, 0, kind == a.Kind
	}
	return a.multiple(kind)
}
