package role

import (
	"bytes"
	"maps"
	"slices"

	"posta.dev/posta/protocol/session"
)

// ByID returns the values of a map in the order of their session ids. Unlike the map's own order, this order gives the same output for the
// same input.
func ByID[S any](sessions map[session.ID]S) []S {
	all := make([]S, 0, len(sessions))
	for _, id := range slices.SortedFunc(maps.Keys(sessions), func(a, b session.ID) int { return bytes.Compare(a[:], b[:]) }) {
		all = append(all, sessions[id])
	}
	return all
}
