package board

import (
	"fmt"
	"strings"
	"time"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic/core"
)

// View is what the screen shows.
type View int

// The views, in the order of their keys.
const (
	Nodes View = iota
	Links
	Sessions
	Incidents
	Help
	views
)

var names = [views]string{"nodes", "links", "sessions", "incidents", "help"}

// Screen is a view, how far it is scrolled, and the size of the terminal.
type Screen struct {
	View          View
	From          int // the first row of the table that is visible
	Width, Height int
	Colours       bool
}

// line is a line of the screen; colour applies to all of it, "" is none.
type line struct {
	text, colour string
}

// body is what a view shows: lines that stay in place, and rows that are scrolled.
type body struct {
	graph, notes, head []line
	rows               []line
	none               string // shown instead of rows, if there are none
}

// Draw returns the lines of the screen, none wider than it, and how far it can be scrolled. The screen may be of any size.
func Draw(s *Seen, c Screen) (lines []string, last int) {
	width, height := max(c.Width, 1), max(c.Height, 1)
	b := s.body(c.View, width)
	top := []line{{s.title(), "1"}, {tabs(c.View, width), ""}}
	room := height - len(top)
	for _, part := range []*[]line{&b.graph, &b.notes} { // on a low terminal the graph and the notes give way to the table
		if n := len(*part); n > 0 && n+1 <= room-len(b.head)-min(len(b.rows), 4)-1 {
			top = append(append(top, *part...), line{})
			room -= n + 1
		}
	}
	top = append(top, b.head...)
	room = max(0, height-len(top)-1) // the last line shows the position
	last = max(0, len(b.rows)-room)
	from := min(max(0, c.From), last)
	shown := b.rows[from:min(len(b.rows), from+room)]
	all := append(top, shown...)
	if len(b.rows) == 0 && b.none != "" {
		all = append(all, line{b.none, ""})
	}
	for len(all) < height-1 {
		all = append(all, line{})
	}
	all = append(all[:min(len(all), height-1)], line{position(from, len(shown), len(b.rows)), "2"})
	for _, l := range all {
		text := display.Cut(l.text, width)
		if c.Colours && l.colour != "" && text != "" {
			text = "\x1b[" + l.colour + "m" + text + "\x1b[0m"
		}
		lines = append(lines, text)
	}
	return lines, last
}

func position(from, shown, of int) string {
	if of == 0 || shown == of {
		return "q: end"
	}
	return fmt.Sprintf("%d to %d of %d, arrows scroll; q: end", from+1, from+shown, of)
}

func (s *Seen) title() string {
	up, medics := 0, "no medic leads"
	for i := range s.Nodes {
		if s.Nodes[i].Up(monitor.SilentFor) {
			up++
		}
	}
	switch {
	case len(s.Medics.All) == 0:
		medics = "no medics"
	case s.Medics.Led:
		medics = fmt.Sprintf("%s leads", s.Medics.Term.Leader)
	}
	return fmt.Sprintf("%s  %s: %d of %s up, %s", s.At.Format(time.TimeOnly), display.Escape(s.Topology.Name), up,
		units.Plural(len(s.Nodes), "node"), medics)
}

// tabs returns the views with their keys. On a narrow terminal it returns only their first letters.
func tabs(now View, width int) string {
	for _, short := range []bool{false, true} {
		var parts []string
		for v, name := range names {
			if short {
				name = name[:1]
			}
			if View(v) == now {
				parts = append(parts, "["+name+"]")
			} else {
				parts = append(parts, " "+name+" ")
			}
		}
		if text := strings.Join(parts, " "); short || display.Width(text) <= width {
			return text
		}
	}
	return ""
}

func (s *Seen) body(v View, width int) body {
	switch v {
	case Links:
		return s.links(width)
	case Sessions:
		return s.sessions(width)
	case Incidents:
		return s.incidents(width)
	case Help:
		return help(width)
	}
	return s.nodes(width)
}

// table puts a table into a body. signs are the signs of its rows; nil for none.
func (b *body) table(t display.Table, width int, signs []sign) {
	t.Width = width
	for i, text := range t.Lines() {
		switch {
		case i == 0:
			b.head = append(b.head, line{text, "4"})
		case signs != nil && signs[i-1] != fine:
			b.rows = append(b.rows, line{text, colours[signs[i-1]]})
		default:
			b.rows = append(b.rows, line{text, ""})
		}
	}
}

// mostNotes is how many lines may say what is wrong.
const mostNotes = 4

func (b *body) note(lines []string) {
	for i, text := range lines {
		if i == mostNotes-1 && len(lines) > mostNotes {
			b.notes = append(b.notes, line{fmt.Sprintf("and %d more", len(lines)-i), colours[care]})
			return
		}
		b.notes = append(b.notes, line{text, colours[care]})
	}
}

func (s *Seen) nodes(width int) body {
	b := body{graph: s.graph(width)}
	b.note(append(append([]string{}, s.Trouble...), monitor.Remarks(s.Nodes)...))
	t := display.Table{
		Head:  []string{"", "node", "state", "in/s", "out/s", "backlog", "memory", "log", "sessions", "up", "inc", "heard", "pid", "host"},
		Right: []bool{3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true, 11: true, 12: true, 13: false},
		Least: []int{13, 12, 10, 9, 8, 11, 7, 6},
	}
	var signs []sign
	for i := range s.Nodes {
		n := &s.Nodes[i]
		k := n.Sign()
		signs = append(signs, k)
		row := []string{marks[k], string(n.Node.ID), n.State(), "", "", "", "", "", "", "", "", "never", "", n.Node.Host}
		if n.Heard {
			h := &n.Beat
			row[5], row[7], row[8] = size(n.Backlog()), size(h.LogBytes), fmt.Sprint(h.Sessions)
			row[9], row[10], row[11], row[12] = display.Span(h.Uptime.Truncate(time.Second)), fmt.Sprint(h.ID.Incarnation),
				display.Span(n.Age)+" ago", fmt.Sprint(h.PID)
			if k != dead { // the last rate of a dead node no longer holds
				row[3], row[4], row[6] = size(uint64(n.InRate)), size(uint64(n.OutRate)), size(h.Memory)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	b.table(t, width, signs)
	return b
}

func size(n uint64) string { return units.Bytes(int64(min(n, 1<<62))) }

func (s *Seen) links(width int) body {
	b := body{none: "no node has a link"}
	t := display.Table{Head: []string{"", "from", "to", "edge", "backlog", "window"}, Right: []bool{4: true, 5: false}, Least: []int{3}}
	var signs []sign
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Silent() {
			continue
		}
		for _, l := range n.Beat.Links {
			k, to := fine, string(l.To)
			if to == "" {
				to = "all receivers"
			}
			window := float64(max(1, s.Topology.Limits.Window))
			fill := display.Bar(min(10, int(10*float64(l.Bytes)/window)), 10)
			if l.Full {
				k, fill = blocked, display.Bar(10, 10)+" full"
			}
			signs = append(signs, k)
			t.Rows = append(t.Rows, []string{marks[k], string(n.Node.ID), to, l.Edge, size(l.Bytes), fill})
		}
	}
	b.table(t, width, signs)
	return b
}

func (s *Seen) sessions(width int) body {
	b := body{none: "no sessions"}
	b.note(s.Trouble)
	t := display.Table{
		Head:  []string{"session", "analysis", "state", "age", "taken in", "per s", "files read", "owner", "asks"},
		Right: []bool{3: true, 4: true, 5: true, 8: false}, Least: []int{7, 1, 3},
	}
	for i := range s.Sessions {
		v := &s.Sessions[i]
		speed, id := "", v.ID.String()
		if v.PerSecond > 0 {
			speed = size(uint64(v.PerSecond))
		}
		if width < 110 {
			id = id[:8]
		}
		age := v.Age
		if age > time.Second {
			age = age.Truncate(time.Second)
		}
		t.Rows = append(t.Rows, []string{id, v.Analysis, string(v.State), display.Span(age), size(v.Bytes), speed, v.Files(), v.Owner, v.Asks})
	}
	t.Most = min(400, max(40, width-112)) // a long statement is cut before a column is left out
	b.table(t, width, nil)
	return b
}

func (s *Seen) incidents(width int) body {
	b := body{none: "no incidents in the medics' journal"}
	t := display.Table{
		Head:  []string{"", "when", "node", "cause", "detect", "restart", "recover", "restarts"},
		Right: []bool{4: true, 5: true, 6: true, 7: true}, Least: []int{7},
	}
	all := core.Incidents(s.Medics.Entries)
	var signs []sign
	for i := len(all) - 1; i >= 0; i-- { // newest first
		x := &all[i]
		k, recovery := fine, display.Span(x.Recovery)
		if x.Open {
			k, recovery = dead, "not yet"
		}
		signs = append(signs, k)
		t.Rows = append(t.Rows, []string{marks[k], x.At.In(s.At.Location()).Format(time.TimeOnly), string(x.Node), strings.TrimSpace(x.Cause),
			display.Span(x.Silent),
			display.Span(x.Restart), recovery, fmt.Sprint(x.Restarts)})
	}
	b.table(t, width, signs)
	return b
}

func help(width int) body {
	var b body
	t := display.Table{Head: []string{"key", "what it does"}, Rows: [][]string{
		{"n", "nodes: the pipeline, what is wrong, and each node"}, {"l", "links: what each receiver has not acknowledged"},
		{"s", "sessions: what they ask, how far they are"}, {"i", "incidents: which process died, and how soon it worked again"},
		{"tab", "the next view"}, {"arrows, PgUp, PgDn", "scroll"}, {"q, Ctrl-C", "end; the cluster continues"},
		{marks[fine], "running"}, {marks[care], "recovering, draining, busy for more than 2s, or in trouble"},
		{marks[blocked], "blocked: a receiver takes no more"}, {marks[dead], "silent for 3s, or with a damaged log"},
	}}
	b.table(t, width, nil)
	return b
}
