package monitor

import (
	"fmt"
	"strings"
	"time"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/nodes/heartbeat"
)

// SilentFor is the silence after which a node or medic that was heard before is shown as silent.
const SilentFor = 3 * time.Second

// OldMark is how old a node's mark has to be before users are shown what the node works on (N9).
const OldMark = 2 * time.Second

// Silent reports whether the node is dead, hung, or cut off from this process.
func (s *Status) Silent() bool { return !s.Heard || s.Age > SilentFor }

// Busy reports whether a node that is heard has got nothing done for OldMark or longer.
func (s *Status) Busy() bool { return !s.Silent() && s.Beat.MarkAge >= OldMark }

// Trouble returns the problem that a node reports about itself. The text is not escaped.
func (s *Status) Trouble() string {
	if s.Silent() {
		return ""
	}
	return s.Beat.Trouble
}

// State returns the node's state. For a node with full links it adds the nodes that it waits for, whatever else is wrong with it.
func (s *Status) State() string {
	if s.Silent() {
		return "silent"
	}
	full := s.waitsFor()
	if len(full) == 0 {
		return string(s.Beat.State)
	}
	text := string(heartbeat.Blocked) + " on " + strings.Join(full, ", ")
	if s.Beat.State != heartbeat.Blocked {
		return string(s.Beat.State) + ", " + text
	}
	return text
}

// waitsFor returns the receivers whose links are full, or the edge if one outbox serves all receivers.
func (s *Status) waitsFor() (full []string) {
	for _, l := range s.Beat.Links {
		switch {
		case !l.Full:
		case l.To != "":
			full = append(full, string(l.To))
		default:
			full = append(full, l.Edge)
		}
	}
	return full
}

// State returns what the medic does: leading, following, silent.
func (m *Medic) State() string {
	switch {
	case !m.Heard || m.Age > SilentFor:
		return "silent"
	case m.Beat.Leading:
		return "leading"
	}
	return "following"
}

// Remarks returns a line for each problem of nodes that are heard: their own reports, damaged frames, and work that takes long. The lines
// are escaped.
func Remarks(view []Status) (lines []string) {
	lines = append(troubleLines(view), damagedLines(view)...)
	return append(lines, busyLines(view)...)
}

// troubleLines returns one line for all nodes with the same trouble, such as an unreachable broker.
func troubleLines(view []Status) (lines []string) {
	nodes := map[string][]string{}
	var texts []string
	for i := range view {
		text := view[i].Trouble()
		if text == "" {
			continue
		}
		if nodes[text] == nil {
			texts = append(texts, text)
		}
		nodes[text] = append(nodes[text], string(view[i].Node.ID))
	}
	for _, text := range texts {
		lines = append(lines, "trouble: "+strings.Join(nodes[text], ", ")+": "+display.Escape(text))
	}
	return lines
}

// damagedLines names nodes that received frames that differ from those that were sent (R18). No row is wrong because of it, but something
// between the nodes corrupts data.
func damagedLines(view []Status) (lines []string) {
	for i := range view {
		s := &view[i]
		if n := s.Beat.Damaged; n > 0 && !s.Silent() {
			lines = append(lines, fmt.Sprintf(
				"damaged: %s: %s since its start did not arrive as sent, or not where it belongs; each is sent again, no row is lost: check the "+
					"broker and its disk, and the hosts' memory",
				s.Node.ID, units.Plural(int(n), "frame")))
		}
	}
	return lines
}

// busyLines returns what nodes work on that have got nothing done for a while. Such a node ends itself after medics.stuck_after.
func busyLines(view []Status) (lines []string) {
	for i := range view {
		s := &view[i]
		if !s.Busy() {
			continue
		}
		line := fmt.Sprintf("busy: %s: nothing done for %s", s.Node.ID, display.Span(s.Beat.MarkAge))
		if b := &s.Beat; b.Role != "" {
			line += ": stage " + display.Escape(b.Role) + ", session " + b.Session.String()
			if b.Stream != "" {
				line += ", stream " + display.Escape(b.Stream)
			}
		}
		lines = append(lines, line)
	}
	return lines
}
