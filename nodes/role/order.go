package role

import (
	"bytes"
	"maps"
	"slices"

	"posta.dev/posta/protocol/session"
)

// ByID returns what a map holds in the order of session ids. Unlike the map's own order it makes the same output of the same input.
func ByID[S any](sessions map[session.ID]S) []S {
	all := make([]S, 0, len(sessions))
	for _, id := range slices.SortedFunc(maps.Keys(sessions), func(a, b session.ID) int { return bytes.Compare(a[:], b[:]) }) {
		all = append(all, sessions[id])
	}
	return all
}
