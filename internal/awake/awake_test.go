package awake

import (
	"testing"
	"time"
)

const longest = 500 * time.Millisecond

func TestM6_TicksTellRunningFromSleeping(t *testing.T) {
	now := time.Unix(1000, 0)
	ticks := NewTicks(longest, time.Time{})
	for i, c := range []struct{ after, ran, slept time.Duration }{
		{time.Hour, 0, 0}, // nothing is known of the time before the first tick
		{longest, longest, 0},
		{longest + 1, 0, longest + 1},
		{5 * time.Minute, 0, 5 * time.Minute},
		{1, 1, 0},
		{0, 0, 0},
		{-time.Hour, 0, 0}, // somebody has set a clock that is not monotonic
		{longest, longest, 0},
	} {
		now = now.Add(c.after)
		if ran, slept := ticks.Tick(now); ran != c.ran || slept != c.slept || !ticks.Last().Equal(now) {
			t.Errorf("tick %d after %v: it ran for %v and slept for %v, want %v and %v", i, c.after, ran, slept, c.ran, c.slept)
		}
	}
	ticks = NewTicks(longest, now)
	if _, slept := ticks.Tick(now.Add(time.Hour)); slept != time.Hour {
		t.Errorf("an hour after the beginning it slept for %v", slept)
	}
}

// TestM6_AClockStandsStillWithItsProcess: a long interval counts as the longest one in which the process can have run, so a process that is
// late all the time is not without time.
func TestM6_AClockStandsStillWithItsProcess(t *testing.T) {
	real, c := time.Unix(1000, 0), NewClock(longest)
	began, slept := c.Read(real)
	if slept || !began.Equal(real) {
		t.Fatalf("the clock begins at %v, after a sleep: %v", began, slept)
	}
	read := func(after time.Duration, want time.Duration, wantSlept bool) {
		t.Helper()
		real = real.Add(after)
		shows, slept := c.Read(real)
		if got := shows.Sub(began); got != want || slept != wantSlept {
			t.Errorf("after %v the clock has counted %v, want %v; it slept: %v", after, got, want, slept)
		}
		if got := c.Until(shows.Add(time.Second)); got != time.Second {
			t.Errorf("it is %v until the clock shows a second more", got)
		}
	}
	read(longest, longest, false)
	read(5*time.Minute, 2*longest, true)
	read(longest, 3*longest, false)
	for i := range 100 {
		read(time.Minute, time.Duration(4+i)*longest, true)
	}
}
