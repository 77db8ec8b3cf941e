package deploy

import (
	"fmt"
	"slices"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/deploy/apply"
)

// steps shows how a plan is carried out. On a terminal it redraws a line for each host and one for all. Elsewhere it writes a line for each
// step that is over, and one when a step begins to wait for something else.
type steps struct {
	screen display.Redraw
	width  func() int             // nil if it is not a terminal
	of     int                    // steps of the plan
	over   int                    // steps that are over
	hosts  []string               // in the order of their first event
	now    map[string]apply.Event // the last event of each host
	said   string                 // the text of the last event that was written, if it is not a terminal
}

func (x *command) newSteps(of int) *steps {
	s := &steps{screen: display.Redraw{Out: x.Err}, of: of, now: map[string]apply.Event{}}
	if width, isTerminal := call.Terminal(x.Err); isTerminal {
		s.width = width
	}
	return s
}

// update implements apply.Config.Report: it is called by one goroutine at a time.
func (s *steps) update(e apply.Event) {
	if e.Done {
		s.over++
	}
	if s.width == nil {
		s.tell(e)
		return
	}
	if !slices.Contains(s.hosts, e.Step.Host) {
		s.hosts = append(s.hosts, e.Step.Host)
	}
	s.now[e.Step.Host] = e
	s.draw()
}

func (s *steps) tell(e apply.Event) {
	line := fmt.Sprintf("%d/%d %s: %s", e.N, e.Of, e.Step.Host, e.Step)
	switch {
	case e.Done && e.Err != nil:
		line += ": failed"
	case e.Done:
	case e.Text != "" && e.Text != s.said:
		s.said = e.Text
		line += ": waits " + e.Text
	default:
		return
	}
	fmt.Fprintln(s.screen.Out, display.Escape(line))
}

func (s *steps) draw() {
	width := max(s.width(), 20) - 1
	const cells = 24
	bar := display.Bar(cells*s.over/max(1, s.of), cells)
	lines := []string{display.Cut(fmt.Sprintf("[%s] %d of %s", bar, s.over, units.Plural(s.of, "step")), width)}
	for _, h := range s.hosts {
		lines = append(lines, display.Cut(display.Escape(h+": "+eventText(s.now[h])), width))
	}
	s.screen.Draw(lines)
}

func eventText(e apply.Event) string {
	text := e.Step.String()
	switch {
	case e.Done && e.Err != nil:
		text += ": failed"
	case e.Done:
		text += ": done"
	case e.Size > 0:
		text += fmt.Sprintf(": %d%%, %s of %s", min(100, 100*e.Bytes/e.Size), units.Bytes(e.Bytes), units.Bytes(e.Size))
	case e.Bytes > 0:
		text += ": " + units.Bytes(e.Bytes)
	case e.Text != "":
		text += ": " + e.Text
	}
	return text
}
