package shell

import (
	"testing"
	"time"

	"posta.dev/posta/nodes/core"
)

// TestFlushTimer: data that no client waits for is committed now and then. Data that clients wait for is committed when they have sent
// everything. Everything else is committed at once.
func TestFlushTimer(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := flushTimer{sealed: start, wait: linger, asked: start.Add(5 * time.Millisecond)}
	for _, x := range []struct {
		urgency core.FlushUrgency
		want    time.Duration
	}{{core.FlushLater, linger}, {core.FlushSoon, 5*time.Millisecond + clientDeadline}} {
		if got := p.due(x.urgency).Sub(start); got != x.want {
			t.Errorf("urgency %d: after %v, not %v", x.urgency, got, x.want)
		}
	}
	p.asked = start.Add(linger) // clients that never stop sending do not delay each other
	if got := p.due(core.FlushSoon).Sub(start); got != linger {
		t.Errorf("clients that continue talking: after %v, not %v", got, linger)
	}
	p.free = true
	if at, later := p.due(core.FlushSoon), p.due(core.FlushLater).Sub(start); !at.IsZero() || later != linger {
		t.Errorf("without fsync: for a client at %v, else after %v", at, later)
	}
	for _, h := range []core.FlushUrgency{core.FlushNothing, core.FlushNow} {
		if !p.due(h).IsZero() {
			t.Errorf("urgency %d waits", h)
		}
	}
}

// TestFlushTimer_WaitsByTheLoad: a commit waits for twenty times the work of the loop in the 20 ms before the last commit.
func TestFlushTimer_WaitsByTheLoad(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	for name, x := range map[string]struct {
		interval, worked, want time.Duration
	}{
		"a loop that did nothing":              {5 * ms, 0, 0},
		"a small frame each 5 ms":              {5 * ms, 100 * us, 2 * ms},
		"5 %":                                  {linger, ms, linger},
		"work all the time":                    {linger, linger, linger},
		"ticks in a pause of a minute":         {time.Minute, 600 * 20 * us, 80 * us},
		"a turn longer than the interval":      {ms, 20 * time.Second, linger},
		"a clock that does not move":           {0, 10 * us, 200 * us},
		"a turn that a clock has run back for": {linger, -time.Hour, 0},
	} {
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		p := flushTimer{}
		p.closed(start)
		p.add(x.worked)
		now := start.Add(x.interval)
		p.closed(now)
		if got := p.due(core.FlushLater).Sub(now); got != x.want {
			t.Errorf("%s: the next commit waits for %v, not %v", name, got, x.want)
		}
	}
}

// TestFlushTimer_CommitsGrowWithTheLoad: under a steady load the wait reaches linger within a few commits, and it ends with the load.
func TestFlushTimer_CommitsGrowWithTheLoad(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := flushTimer{}
	run := func(gap, work time.Duration, commits int) {
		for range commits {
			for {
				p.add(work)
				if now = now.Add(gap); !now.Before(p.due(core.FlushLater)) {
					break
				}
			}
			p.closed(now)
		}
	}
	run(time.Millisecond, 150*time.Microsecond, 5)
	if p.wait != linger {
		t.Errorf("a load of 15 %%: after five commits the next one waits for %v", p.wait)
	}
	run(10*time.Millisecond, 100*time.Microsecond, 5)
	if p.wait > 2*time.Millisecond {
		t.Errorf("a load of 1 %%: after five commits the next one waits for %v", p.wait)
	}
}
