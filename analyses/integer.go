package analyses

import (
	"fmt"

	"posta.dev/posta/rows/csv"
)

// Integer returns a check for parameters that must be integers from least to most.
func Integer(least, most int64) func(value string) error {
	return func(value string) error {
		if v, ok := csv.ParseInt([]byte(value)); !ok || v < least || v > most {
			return fmt.Errorf("give an integer from %d to %d", least, most)
		}
		return nil
	}
}

// Int returns parameter i, whose check is [Integer]. If the value is not an integer, the analysis has forgotten this check, so
// Int panics.
func (a Args) Int(i int) int64 {
	v, ok := csv.ParseInt([]byte(a[i]))
	if !ok {
		panic(fmt.Sprintf("analyses: parameter %d is %q, which is not an integer; let its Check be Integer", i, a[i]))
	}
	return v
}
