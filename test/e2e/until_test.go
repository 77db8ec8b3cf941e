package e2e

import (
	"context"
	"testing"
	"time"
)

const (
	// patience is how long a test waits at most for a condition. It says nothing about the speed of nodes: a shared machine may stand still
	// for seconds, and the race detector makes everything about five times slower.
	patience = 5 * time.Minute
	// longest is how long all the work of one test with a cluster may take: several waits, one after the other.
	longest = 15 * time.Minute
)

// poll calls a function again and again until ok or the time is up, and returns the last answer.
func poll(within time.Duration, ok func() bool) bool {
	for end := time.Now().Add(within); ; time.Sleep(2 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// until waits for a condition to become true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !poll(patience, ok) {
		t.Errorf("within %s not true: %s", patience, what)
	}
}

// deadline ends a test's work with a cluster that hangs.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	t.Cleanup(cancel)
	return ctx
}
