package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/deploy/apply"
)

// steps shows how a plan is carried out: on a terminal a line for each host and one for all, drawn over and over; elsewhere a line for each
// step that is over, and for what a step has waited for.
type steps struct {
	out   io.Writer
	width func() int // nil where it is no terminal
	of    int
	over  int
	hosts []string
	now   map[string]apply.Event
	drawn int
	said  string
}

func (x *command) newSteps(of int) *steps {
	s := &steps{out: x.Err, of: of, now: map[string]apply.Event{}}
	if width, isTerminal := terminal(x.Err); isTerminal {
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
	fmt.Fprintln(s.out, display.Escape(line))
}

func (s *steps) draw() {
	width := max(s.width(), 20) - 1
	var b strings.Builder
	s.clear(&b)
	const cells = 24
	full := cells * s.over / max(1, s.of)
	b.WriteString(display.Cut(fmt.Sprintf("[%s%s] %d of %s", strings.Repeat("█", full), strings.Repeat("·", cells-full), s.over, display.Plural(s.of, "step")), width) + "\n")
	for _, h := range s.hosts {
		b.WriteString(display.Cut(display.Escape(h+": "+eventText(s.now[h])), width) + "\n")
	}
	s.drawn = 1 + len(s.hosts)
	_, _ = io.WriteString(s.out, b.String())
}

func eventText(e apply.Event) string {
	text := e.Step.String()
	switch {
	case e.Done && e.Err != nil:
		text += ": failed"
	case e.Done:
		text += ": done"
	case e.Size > 0:
		text += fmt.Sprintf(": %d%%, %s of %s", min(100, 100*e.Bytes/e.Size), display.Bytes(e.Bytes), display.Bytes(e.Size))
	case e.Bytes > 0:
		text += ": " + display.Bytes(e.Bytes)
	case e.Text != "":
		text += ": " + e.Text
	}
	return text
}

func (s *steps) clear(b *strings.Builder) {
	if s.drawn > 0 {
		fmt.Fprintf(b, "\x1b[%dA\r\x1b[J", s.drawn)
	}
	s.drawn = 0
}

// finish takes the lines away, so that what follows is not drawn over.
func (s *steps) finish() {
	var b strings.Builder
	s.clear(&b)
	_, _ = io.WriteString(s.out, b.String())
}
