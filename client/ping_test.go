package client

import (
	"testing"
	"time"
)

// TestR14_PingsClaim: pings say what each input has acknowledged, and never more (fakeCluster.claims).
func TestR14_PingsClaim(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	f.slowly()
	dir, want := dataDir(t, 3000)
	cfg := f.config()
	cfg.Timeout, cfg.Dir = 2*time.Second, dir
	if _, err := Run(during(t, time.Minute), cfg); err != nil {
		t.Fatal(err)
	}
	f.compare(want)
	f.pinged()
}
