package display

import (
	"strings"
)

func Joined[T ~string](all []T) string {
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = string(n)
	}
	return strings.Join(names, ", ")
}
