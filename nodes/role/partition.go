package role

import (
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
)

// Partition says which of n reducers a session belongs to: its tables must meet in one.
func Partition(id session.ID, n int) int {
	return int(fold.Hash(id[:]) % uint64(n))
}
