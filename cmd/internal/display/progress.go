package display

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"posta.dev/posta/client"
)

// Progress shows how far a run is. On a terminal it draws a line for each stream over and over; elsewhere it writes one line every
// few seconds, and one when a stream or a state ends. Several goroutines may use it.
type Progress struct {
	Out      io.Writer
	Terminal bool
	Width    func() int       // of the terminal, asked before each drawing; nil for 80
	Now      func() time.Time // nil for time.Now

	mu      sync.Mutex              // guards the fields below, and Out
	streams map[string]*streamState // by stream
	bars    Redraw
	state   client.State // the last one told
	told    time.Time    // when the last plain line was written
}

// every is the time between two plain lines.
const every = 3 * time.Second

// Update shows p.
func (g *Progress) Update(p client.Progress) {
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

// Say writes a line above the bars; "" is nothing to say.
func (g *Progress) Say(line string) {
	if line == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bars.Clear()
	fmt.Fprintln(g.Out, line)
}

// Done takes the bars away, so that what follows is not drawn over.
func (g *Progress) Done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bars.Clear()
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
	g.bars.Draw(append(lines, Cut(statusLine(p), width-1)))
}

// tell writes plain lines. What a stream that has ended took is told once, and stands for the news of that moment.
func (g *Progress) tell(p client.Progress, streams []streamView, now time.Time) {
	for _, s := range streams {
		if t := s.state; t != nil && t.over && !t.told {
			t.told = true
			fmt.Fprintf(g.Out, "%s: sent %s%s\n", Escape(s.Name), Bytes(s.Read), t.within())
			g.told = now
		}
	}
	changed := p.State != g.state && (p.State == client.Busy || p.State == client.Computing)
	g.state = p.State
	if p.State == client.Finished || !changed && (!g.told.IsZero() && now.Sub(g.told) < every) {
		return
	}
	if g.told.IsZero() && !changed { // the first line comes when there is something to say
		g.told = now
		return
	}
	g.told = now
	line := statusLine(p)
	for _, s := range streams {
		if s.state != nil && !s.state.over {
			line += "; " + Escape(s.Name) + " " + s.numbers()
		}
	}
	fmt.Fprintln(g.Out, line)
}

// within is " in 1.2s", nothing for a stream that was over when it was first seen.
func (t *streamState) within() string {
	if t.took == 0 {
		return ""
	}
	return " in " + Span(t.took)
}

// statusLine says what the run does and what it waits for.
func statusLine(p client.Progress) string {
	line := string(p.State)
	switch {
	case len(p.Silent) > 0:
		line += "; no answer from " + Escape(strings.Join(p.Silent, ", "))
	case p.HeldBack:
		line += "; the cluster takes its time"
	}
	if p.Rows > 0 {
		line += "; " + Count(p.Rows) + " rows of answers"
	}
	if p.Retries > 0 {
		line += fmt.Sprintf("; asked again %d×", p.Retries)
	}
	return line
}
