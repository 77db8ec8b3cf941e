// Package units writes sizes and counts for people.
package units

import (
	"fmt"
	"strconv"
)

// Bytes returns a size for people: "0 B", "1023 B", "1.0 KiB", "12.3 MiB".
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n), 0
	for v >= 1023.95 && unit < 6 {
		v /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", v, "?KMGTPE"[unit])
}

// Plural returns a number and what it counts: "1 node", "2 nodes".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Count returns a number for people, with a comma every three digits.
func Count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Rows returns a number of rows for people: "1 row", "1,234 rows".
func Rows(n uint64) string {
	if n == 1 {
		return "1 row"
	}
	return Count(n) + " rows"
}
