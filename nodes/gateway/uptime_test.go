package gateway

import (
	"testing"
	"time"
)

func TestM10_AnAgeOutlivesItsProcess(t *testing.T) {
	noon := time.Unix(1_700_000_000, 0)
	one := Uptime{Boot: "b", Zero: noon.Add(-time.Hour)}
	a := one.Store(noon, time.Minute)
	// Meanwhile the wall clock was set back by a day, and the machine's clock continued for ten minutes.
	later := noon.Add(-24 * time.Hour)
	two := Uptime{Boot: "b", Zero: later.Add(-70 * time.Minute)}
	for name, c := range map[string]struct {
		up   Uptime
		a    Age
		want time.Duration
	}{
		"in the same process":                {one, a, time.Minute},
		"in the same boot":                   {two, a, 11 * time.Minute},
		"in another boot":                    {Uptime{Boot: "c", Zero: later.Add(-70 * time.Minute)}, a, time.Minute},
		"where no boot is known":             {Uptime{}, a, time.Minute},
		"stored where no boot was known":     {two, Uptime{}.Store(noon, time.Minute), time.Minute},
		"stored by a clock that was further": {two, Age{"b", 80 * time.Minute, time.Minute}, time.Minute},
	} {
		now := later
		if c.up == one {
			now = noon
		}
		if got := c.up.Now(now, c.a); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
