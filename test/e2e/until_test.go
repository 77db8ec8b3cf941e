package e2e

import (
	"testing"
	"time"
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

// patience lengthens what a test waits for at most: with the race detector everything takes some five times as long.
func patience(d time.Duration) time.Duration {
	if raced {
		return 5 * d
	}
	return d
}

// until is poll for what must come true.
func until(t *testing.T, within time.Duration, what string, ok func() bool) bool {
	t.Helper()
	if poll(patience(within), ok) {
		return true
	}
	t.Errorf("within %s not true: %s", within, what)
	return false
}
