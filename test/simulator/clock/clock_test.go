package clock

import (
	"testing"
	"time"
)

func TestTheTwoClocksAreIndependent(t *testing.T) {
	wall := time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC)
	for name, jump := range map[string]time.Duration{"none": 0, "forward": 40 * 24 * time.Hour, "back": -40 * 365 * 24 * time.Hour} {
		before := Read(wall, time.Second)
		after := Read(wall.Add(jump), 3*time.Second)
		if !before.Equal(wall) || !before.Round(0).Equal(wall) || !after.Round(0).Equal(wall.Add(jump)) {
			t.Errorf("%s: the wall clock shows %v, then %v", name, before, after)
		}
		if d := after.Sub(before); d != 2*time.Second {
			t.Errorf("%s: %v have passed", name, d)
		}
		if later := before.Add(2 * time.Second); later.Before(after) || later.After(after) {
			t.Errorf("%s: %v is not when %v is", name, later, after)
		}
		if d := after.Round(0).Sub(before.Round(0)); d != jump {
			t.Errorf("%s: by the wall clock %v have passed", name, d)
		}
	}
	if d := Read(wall, 0).Sub(time.Time{}); d < 100*365*24*time.Hour {
		t.Errorf("the zero time is only %v ago", d)
	}
}

// A time that was really read has the same form. This process has not run for hours.
func TestAsThePackageTimeDoes(t *testing.T) {
	now := time.Now()
	if mine := Read(now, 10*time.Hour); !mine.Round(0).Equal(now.Round(0)) || mine.Sub(now) < 8*time.Hour || mine.Sub(now) > 10*time.Hour {
		t.Errorf("%v becomes %v, which is %v later", now, mine, mine.Sub(now))
	}
}
