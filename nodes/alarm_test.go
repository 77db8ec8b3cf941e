package nodes

import (
	"testing"
	"time"
)

// TestAlarm: the alarm rings once, at the earliest of the times it was set to. When it is set again, it rings at the later time.
func TestAlarm(t *testing.T) {
	a, start := newAlarm(), time.Now()
	defer a.stop()
	at := func(d time.Duration) { a.set(time.Now(), start.Add(d)) }
	rings := func(after time.Duration) {
		t.Helper()
		select {
		case <-a.C():
			a.rang()
		case <-time.After(time.Minute):
			t.Fatal("it does not ring")
		}
		if got := time.Since(start); got < after {
			t.Fatalf("it rings after %v, not %v", got, after)
		}
	}
	at(time.Hour)
	at(20 * time.Millisecond)
	at(2 * time.Hour)
	rings(20 * time.Millisecond)
	at(time.Hour)
	at(10 * time.Millisecond) // has passed
	rings(20 * time.Millisecond)
	at(40 * time.Millisecond)
	time.Sleep(40 * time.Millisecond)
	at(time.Hour) // it has rung, and the loop has not received the ring
	rings(40 * time.Millisecond)
	at(60 * time.Millisecond)
	rings(60 * time.Millisecond)
	select {
	case <-a.C():
		t.Fatal("it rings without having been set")
	case <-time.After(50 * time.Millisecond):
	}
}
