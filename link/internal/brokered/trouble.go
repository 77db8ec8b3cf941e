package brokered

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// recently is how long the failure of a link is shown after it happened. A link that keeps failing does so at shorter intervals.
const recently = 15 * time.Second

// troubles are the present problems of a transport, for `posta status`. There is at most one entry for each connection and each link.
type troubles struct {
	mu sync.Mutex
	of map[string]trouble // by what it concerns
}

type trouble struct {
	text  string
	until time.Time // when it expires; zero: at Over
	lines logLines
}

// logLines limits how much a link logs. Two failures that alternate would each time count as a new one, so the number of lines is limited,
// too.
type logLines struct {
	since time.Time // when the first of the present lines was logged
	last  string
	n     int
}

// mostLines is how many different failures of a link are logged in logEvery.
const mostLines = 3

// admit reports whether a failure is to be logged: once in logEvery, and at once if it differs from the last one.
func (l *logLines) admit(text string, now time.Time) bool {
	if l.n == 0 || now.Sub(l.since) >= logEvery {
		*l = logLines{since: now}
	} else if text == l.last || l.n == mostLines {
		return false
	}
	l.last, l.n = text, l.n+1
	return true
}

// say adds a problem of what. It stays until the given time or, if that is zero, until Over.
func (t *troubles) say(what, text string, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.putLocked(what, trouble{text: text, until: until})
}

func (t *troubles) putLocked(what string, x trouble) {
	if t.of == nil {
		t.of = map[string]trouble{}
	}
	t.of[what] = x
}

// failed adds the failure of a link for a while, and reports whether it is to be logged.
func (t *troubles) failed(what, text string, now time.Time) (log bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.of[what]
	log = x.lines.admit(text, now)
	x.text, x.until = text, now.Add(recently)
	t.putLocked(what, x)
	return log
}

// Over removes the problem of what.
func (t *troubles) Over(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, what)
}

// Text returns all problems in one line, without repetitions; "" if there are none.
func (t *troubles) Text(now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var texts []string
	for what, x := range t.of {
		if !x.until.IsZero() && now.After(x.until) {
			if now.Sub(x.lines.since) >= logEvery { // until then it bounds what is logged
				delete(t.of, what)
			}
			continue
		}
		texts = append(texts, x.text)
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), "; ")
}
