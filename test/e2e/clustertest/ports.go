package clustertest

import (
	"testing"

	"posta.dev/posta/internal/freeports"
)

// FreePorts returns the first of a row of ports that nobody on this machine has now.
func FreePorts(t testing.TB, row int) int {
	t.Helper()
	first, err := freeports.Row(row)
	if err != nil {
		t.Fatal(err)
	}
	return first
}
