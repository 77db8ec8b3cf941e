package lastlog

import (
	"strings"
	"sync"
	"time"
)

// Bounds of what is kept (R16).
const (
	MaxLines = 200
	maxBytes = 64 << 10 // of all lines together
	maxLine  = 2 << 10  // bytes of a line; the rest is cut off
)

// Line is one line of a log.
type Line struct {
	Age   time.Duration // how long ago it was written
	Level string        // such as INFO
	Text  string        // without time and level
}

// Ring keeps the newest lines. Any goroutine may call its methods.
type Ring struct {
	now func() time.Time

	mu    sync.Mutex
	lines []line // oldest first
	bytes int    // of their texts
}

type line struct {
	at          time.Time
	level, text string
}

// NewRing returns an empty ring. now is the clock.
func NewRing(now func() time.Time) *Ring { return &Ring{now: now} }

// Write keeps one line as slog.TextHandler formats it without its time. It never fails.
func (r *Ring) Write(formatted []byte) (int, error) {
	// The line is cut before it is searched for secrets: a line may have a megabyte of stacks. What is cut off cannot reveal anything.
	text := strings.TrimSuffix(string(formatted[:min(len(formatted), 2*maxLine)]), "\n")
	level, text, _ := strings.Cut(text, " ")
	r.add(line{r.now(), strings.TrimPrefix(level, "level="), hide(text)})
	return len(formatted), nil
}

func (r *Ring) add(l line) {
	if len(l.text) > maxLine {
		l.text = strings.ToValidUTF8(l.text[:maxLine], "") + "…"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.bytes = append(r.lines, l), r.bytes+len(l.text)
	drop := 0
	for len(r.lines)-drop > MaxLines || r.bytes > maxBytes {
		r.bytes -= len(r.lines[drop].text)
		drop++
	}
	r.lines = append(r.lines[:0], r.lines[drop:]...)
}

// Lines returns what is kept, oldest first.
func (r *Ring) Lines() []Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, all := r.now(), make([]Line, len(r.lines))
	for i, l := range r.lines {
		all[i] = Line{max(0, now.Sub(l.at)), l.level, l.text}
	}
	return all
}

// Former keeps lines that an earlier process of the same node has written into the log file, oldest first. Lines that are not from the
// logger are left out: a panic may print a value of somebody's data.
func (r *Ring) Former(file []byte) {
	for text := range strings.Lines(string(file)) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(text, "\n"), "time=")
		stamp, rest, _ := strings.Cut(rest, " ")
		at, err := time.Parse(time.RFC3339, stamp)
		level, rest, _ := strings.Cut(rest, " ")
		level, named := strings.CutPrefix(level, "level=")
		if ok && err == nil && named && len(rest) > 0 {
			r.add(line{at, level, hide(rest)})
		}
	}
}
