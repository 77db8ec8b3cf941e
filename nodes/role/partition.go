package role

import (
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
)

// Partition returns which of n reducers a session belongs to. All its tables must go to the same reducer.
func Partition(id session.ID, n int) int {
	return int(fold.Hash(id[:]) % uint64(n))
}
