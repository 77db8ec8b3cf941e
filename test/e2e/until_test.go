package e2e

import (
	"context"
	"testing"
	"time"

	"posta.dev/posta/test/await"
)

const (
	// patience is how long a test waits at most for a condition. It says nothing about the speed of nodes: a shared machine may stand still
	// for seconds, and the race detector makes everything about five times slower.
	patience = 5 * time.Minute
	// longest is how long all the work of one test with a cluster may take: several waits, one after the other.
	longest = 15 * time.Minute
)

// until waits for a condition to become true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !await.Within(patience, ok) {
		t.Errorf("within %s not true: %s", patience, what)
	}
}

// deadline ends a test's work with a cluster that hangs.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	t.Cleanup(cancel)
	return ctx
}
