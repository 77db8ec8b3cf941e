package oraclecsv

import (
	"fmt"
	"regexp"
	"strconv"
)

// decimal matches the numbers that are accepted. strconv accepts more, such as hexadecimals, underscores and names.
var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// Number reads a field; want is the reason's name for what the field should be.
func Number(column, s, want string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if !decimal.MatchString(s) || err != nil {
		return 0, Invalid(column, s, want)
	}
	return f, nil
}

// Integer reads a field.
func Integer(column, s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, Invalid(column, s, "an integer")
	}
	return n, nil
}

// Invalid returns the reason for rejecting a row.
func Invalid(column, s, want string) error {
	if s == "" {
		return fmt.Errorf("%s is empty", column)
	}
	if len(s) > 40 {
		s = s[:40]
	}
	return fmt.Errorf("%s %q is not %s", column, s, want)
}
