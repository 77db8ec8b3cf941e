package display

import (
	"strings"
)

// Joined returns names with commas between them.
func Joined[T ~string](all []T) string {
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = string(n)
	}
	return strings.Join(names, ", ")
}
