package display

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/client"
)

// Progress shows how far a run is. On a terminal it redraws a line for each stream. Elsewhere it writes a line every few seconds, and one
// when a stream or a state ends. Several goroutines may use it.
type Progress struct {
	Out      io.Writer
	Terminal bool
	Width    func() int       // of the terminal, asked before each drawing; nil for 80
	Now      func() time.Time // nil for time.Now

	// For a program instead of people: Told and Said receive the arguments of Update and Say, and nothing is written. Set both or none.
	Told func(client.Progress)
	Said func(line string)

	mu      sync.Mutex              // guards the fields below, and Out
	streams map[string]*streamState // by stream
	bars    Redraw
	of      string       // the part of a larger question that the session answers; "" for all of it
	state   client.State // the last state that was written
	told    time.Time    // when the last plain line was written
}

// every is the least time between two plain lines.
const every = 3 * time.Second

// Update shows p.
func (g *Progress) Update(p client.Progress) {
	if g.Told != nil {
		g.Told(p)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now
	if g.Now != nil {
		now = g.Now
	}
	at := now()
	streams := g.measure(p, at)
	if g.Terminal {
		g.draw(p, streams)
	} else {
		g.tell(p, streams, at)
	}
}

// Of sets the name that appears in the lines of the next sessions; it is for questions that take several sessions. "" removes it.
func (g *Progress) Of(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.of = what
}

// Say writes a line above the bars; "" writes nothing.
func (g *Progress) Say(line string) {
	if line == "" {
		return
	}
	if g.Said != nil {
		g.Said(line)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bars.Clear()
	fmt.Fprintln(g.Out, line)
}

// Done removes the bars, so that they do not draw over later output. The next updates belong to another session, even if its streams have
// the same names.
func (g *Progress) Done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bars.Clear()
	g.streams, g.state = nil, ""
}

func (g *Progress) measure(p client.Progress, now time.Time) []streamView {
	if g.streams == nil {
		g.streams = map[string]*streamState{}
	}
	views := make([]streamView, len(p.Streams))
	for i, s := range p.Streams {
		t := g.streams[s.Name]
		if t == nil && (s.Read > 0 || s.Ended) {
			t = &streamState{begun: now}
			g.streams[s.Name] = t
		}
		if t == nil {
			views[i] = streamView{StreamProgress: s}
		} else {
			views[i] = t.view(s, now)
		}
	}
	return views
}

func (g *Progress) draw(p client.Progress, streams []streamView) {
	width := 80
	if g.Width != nil {
		width = max(g.Width(), 20)
	}
	names := nameWidth(streams)
	var lines []string
	for _, s := range streams {
		lines = append(lines, s.bar(names, width-1))
	}
	g.bars.Out = g.Out
	g.bars.Draw(append(lines, Cut(g.statusLine(p), width-1)))
}

// tell writes plain lines. When a stream has ended, its line is written once, and the next regular line waits for its full interval.
func (g *Progress) tell(p client.Progress, streams []streamView, now time.Time) {
	for _, s := range streams {
		if t := s.state; t != nil && t.over && !t.told {
			t.told = true
			fmt.Fprintf(g.Out, "%s: sent %s%s\n", Escape(s.Name), units.Bytes(s.Read), t.within())
			g.told = now
		}
	}
	changed := p.State != g.state && (p.State == client.Busy || p.State == client.InUse || p.State == client.Comparing ||
		p.State == client.Computing)
	g.state = p.State
	if p.State == client.Finished || !changed && (!g.told.IsZero() && now.Sub(g.told) < every) {
		return
	}
	if g.told.IsZero() && !changed { // the first line waits until there is something to report
		g.told = now
		return
	}
	g.told = now
	line := g.statusLine(p)
	for _, s := range streams {
		if s.state != nil && !s.state.over {
			line += "; " + Escape(s.Name) + " " + s.numbers()
		}
	}
	fmt.Fprintln(g.Out, line)
}

// within returns " in 1.2s", and "" for a stream that was over when it was first seen.
func (t *streamState) within() string {
	if t.took == 0 {
		return ""
	}
	return " in " + Span(t.took)
}

// statusLine returns what the run does and what it waits for.
func (g *Progress) statusLine(p client.Progress) string {
	line := string(p.State)
	if g.of != "" {
		line = Escape(g.of) + ": " + line
	}
	switch {
	case len(p.Silent) > 0:
		line += "; no answer from " + Escape(strings.Join(p.Silent, ", "))
	case p.HeldBack:
		line += "; the cluster is slow to answer"
	}
	if p.Rows > 0 {
		line += "; " + units.Count(p.Rows) + " rows of answers"
	}
	if p.Retries > 0 {
		line += fmt.Sprintf("; asked again %d×", p.Retries)
	}
	return line
}
