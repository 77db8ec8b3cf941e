package nodes

import "testing"

// The limit never stands close above what is live, or the collector would run without end.
func TestLimitLeavesRoom(t *testing.T) {
	for live := int64(0); live < 8<<30; live += 7 << 20 {
		l := limitFor(live)
		if l < leastLimit || l < live+live/4 || l > 2*live+leastLimit+step {
			t.Fatalf("%d bytes live: limit %d", live, l)
		}
		if l < limitFor(max(0, live-1<<20)) {
			t.Fatalf("%d bytes live: the limit falls as the state grows", live)
		}
	}
}
