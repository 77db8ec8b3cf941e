package display

import (
	"fmt"
	"strconv"
	"time"
)

// Bytes is a size for people: "0 B", "1023 B", "1.0 KiB", "12.3 MiB".
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n), 0
	for v >= 1023.95 && unit < 6 {
		v /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", v, "?KMGTPE"[unit])
}

// Count is a number for people, with a comma every three digits.
func Count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural is a number and what it counts: "1 node", "2 nodes".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Span is a time for people, of two units at most: "30ms", "1.3s", "42s", "3m05s", "2h07m", "5d03h".
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
