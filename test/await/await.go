// Package await is for tests that wait for what goroutines, processes or servers do.
package await

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// Patience is how long a test waits. It says nothing about speed: a shared machine may stand still for seconds, and the race detector
// makes everything about five times slower.
const Patience = 5 * time.Minute

// Until asks again and again whether something is so, and ends the test if it never is.
func Until(t testing.TB, what string, so func() bool) {
	t.Helper()
	if !Within(Patience, so) {
		t.Fatalf("not within %v: %s", Patience, what)
	}
}

// Within asks again and again whether something is so, until it is or the time is up, and returns the last answer. Pauses grow from a
// millisecond to twenty, so that many waiting tests leave the processors to those for whom they wait.
func Within(most time.Duration, so func() bool) bool {
	end := time.Now().Add(most)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if so() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
}

// Soon returns a context for calls that should take a moment.
func Soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// Log is a text that a test reads while others write it.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Line waits for a line that contains all of these words.
func (l *Log) Line(t testing.TB, words ...string) {
	t.Helper()
	said := func() bool {
		for line := range strings.Lines(l.String()) {
			found := true
			for _, w := range words {
				found = found && strings.Contains(line, w)
			}
			if found {
				return true
			}
		}
		return false
	}
	if !Within(Patience, said) {
		t.Fatalf("no line has %q:\n%s", words, l)
	}
}
