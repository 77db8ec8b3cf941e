package display

import (
	"fmt"
	"time"
)

// Span returns a time for people, in two units at most: "30ms", "1.3s", "42s", "3m05s", "2h07m", "5d03h".
func Span(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", max(0, d.Milliseconds()))
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", float64(d/(100*time.Millisecond))/10)
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}

// ETA returns how long something will still take, in steps as coarse as an estimate: 1 s below 10 s, 5 s below a minute, 10 s below ten
// minutes, then whole minutes, ten minutes and hours. It is never 0, because a finished run has no ETA.
func ETA(d time.Duration) string {
	step := time.Second
	for _, s := range []struct{ from, step time.Duration }{
		{10 * time.Second, 5 * time.Second}, {time.Minute, 10 * time.Second}, {10 * time.Minute, time.Minute}, {time.Hour, 10 * time.Minute},
		{24 * time.Hour, time.Hour},
	} {
		if d >= s.from {
			step = s.step
		}
	}
	d = max((d+step/2)/step*step, step)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case step >= time.Minute && d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return Span(d)
}
