package chaos

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/faults"
	"posta.dev/posta/medic"
)

// Fault is one thing that chaos did, or failed to do.
type Fault struct {
	at         time.Time
	kind       faults.Kind
	node       medic.NodeID
	pid        int           // 0 if the target was dead
	lasts      time.Duration // 0 for faults that end at once
	err        error
	unanswered bool // the call was given up, so it may have happened
}

// done reports whether the fault was injected, as far as that is known.
func (f *Fault) done() bool { return f.pid != 0 && (f.err == nil || f.unanswered) }

func (f *Fault) String() string {
	what := string(f.kind) + " " + string(f.node)
	if f.pid == 0 {
		if f.err == nil {
			return what + ": it was not running"
		}
		return what + ": " + f.err.Error()
	}
	what += ", process " + strconv.Itoa(f.pid)
	if f.lasts > 0 {
		what += " for " + display.Span(f.lasts)
	}
	switch {
	case f.unanswered:
		what += ", perhaps: " + f.err.Error()
	case f.err != nil:
		what += ": " + f.err.Error()
	}
	return what
}

// happened is one line of the output of chaos.
type happened struct {
	at   time.Time
	text string
}

// timeline puts lines into the order in which things happened. The journal arrives later than the events that it reports, so a line waits
// until no older line is expected.
type timeline struct {
	waiting []happened
}

func (t *timeline) add(at time.Time, text string) { t.waiting = append(t.waiting, happened{at, text}) }

// until removes and returns the lines of what happened before a moment, the oldest first. A line that arrived too late for its place comes
// with the next call.
func (t *timeline) until(moment time.Time) []happened {
	slices.SortStableFunc(t.waiting, func(a, b happened) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
	n := slices.IndexFunc(t.waiting, func(h happened) bool { return h.at.After(moment) })
	if n < 0 {
		n = len(t.waiting)
	}
	due := slices.Clone(t.waiting[:n])
	t.waiting = slices.Delete(t.waiting, 0, n)
	return due
}
