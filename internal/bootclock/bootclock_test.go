package bootclock

import "testing"

func TestM10_OneBootOneClock(t *testing.T) {
	boot, since := Read()
	again, later := Read()
	if boot == "" || boot != again || since <= 0 || later < since {
		t.Fatalf("boot %q at %v, then %q at %v", boot, since, again, later)
	}
}
