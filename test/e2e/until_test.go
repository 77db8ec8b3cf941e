package e2e

import (
	"context"
	"testing"
	"time"
)

const (
	// patience is how long a test waits at most for what must come true. It says nothing about how fast nodes are: a shared machine may stand still
	// for seconds, and the race detector makes everything some five times slower.
	patience = 5 * time.Minute
	// longest is how long everything that a test does with a cluster may take: several waits, one after the other.
	longest = 15 * time.Minute
)

// poll asks again and again until ok or the time is up, and returns the last answer.
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

// until waits for what must come true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !poll(patience, ok) {
		t.Errorf("within %s not true: %s", patience, what)
	}
}

// deadline ends what a test does with a cluster when it hangs.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	t.Cleanup(cancel)
	return ctx
}
