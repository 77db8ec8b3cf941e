package nodes

import (
	"slices"
	"testing"
	"time"
)

// TestAnIdleNodeHasOneProcessor: it gets its share back with the first work, and nothing changes twice.
func TestAnIdleNodeHasOneProcessor(t *testing.T) {
	if newProcessorShare(1, time.Now()) != nil {
		t.Error("a node with one processor has some to give back")
	}
	var none *processorShare
	none.work(time.Now())
	none.look(time.Now(), 0)

	now, set := time.Unix(1000, 0), []int(nil)
	p := newProcessorShare(3, now)
	p.set = func(n int) int { set = append(set, n); return 0 }
	after := func(d time.Duration, what string, want ...int) {
		t.Helper()
		if now = now.Add(d); what == "work" {
			p.work(now)
		} else {
			p.look(now, len(what))
		}
		if !slices.Equal(set, want) {
			t.Errorf("%v later, after %q: it has set %v, want %v", d, what, set, want)
		}
		set = nil
	}
	after(restAfter-1, "")
	after(1, "", 1)
	after(time.Hour, "")
	after(time.Hour, "work", 3)
	after(restAfter-1, "work")
	after(restAfter-1, "")
	after(time.Hour, "s") // a session that only waits
	after(restAfter-1, "")
	after(1, "", 1)
	after(time.Hour, "ss", 3)
}
