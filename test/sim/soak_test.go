package sim

import (
	"flag"
	"testing"
	"time"
)

var soak = flag.Duration("soak", 0, "how long TestSoak runs, over seeds that no other run has seen; 0 is not at all")

// TestSoak runs seeds that grow from the moment it is started, for as long as -soak says: `make soak`.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Log("give it a time: -soak=1h")
		return
	}
	begun := time.Now()
	first := uint64(begun.UnixMilli()) << 20
	total := map[string]int{}
	for n := uint64(0); time.Since(begun) < *soak && !t.Failed(); n++ {
		r := run(t, first+n)
		total["seeds"]++
		total["sessions"] += r.Sessions
		total["right answers"] += r.Done
		if n%1000 == 999 {
			t.Logf("%v: %v", time.Since(begun).Round(time.Second), total)
		}
	}
	t.Logf("%v from seed %d on", total, first)
}
