package heartbeat

import (
	"testing"
	"time"
)

// TestM10_ThePauseIsNeverLonger: whatever the clock shows, the next heartbeat is due after more than no time, and after one interval at
// most.
func TestM10_ThePauseIsNeverLonger(t *testing.T) {
	const every = 100 * time.Millisecond
	for _, x := range []struct {
		now  time.Time
		want time.Duration
	}{
		{time.Unix(1_700_000_000, 0), every},
		{time.Unix(1_700_000_000, 1), every - 1},
		{time.Unix(1_700_000_000, int64(every)-1), 1},
		{time.Unix(-5, 0), every},
		{time.Unix(-5, 30_000_000), 70 * time.Millisecond},
	} {
		if got := Next(x.now, every); got != x.want {
			t.Errorf("at %v: %v, want %v", x.now, got, x.want)
		}
	}
	for _, odd := range []time.Time{{}, time.Unix(1<<62, 0), time.Unix(-1<<62, 0)} { // UnixNano overflows
		if got := Next(odd, every); got <= 0 || got > every {
			t.Errorf("at %v: %v", odd, got)
		}
	}
	if got := Next(time.Now(), 0); got != 0 {
		t.Errorf("no interval: %v", got)
	}
}
