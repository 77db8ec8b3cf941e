package topology

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text draws the topology for a terminal: a box for each stage with its nodes, an arrow for each edge. It uses only boxes and arrows that
// every terminal font has, and no colour.
func (t *Topology) Text() string {
	d := textDrawing{t: t, rows: t.nodeRows()}
	d.width = d.measure()
	d.heading()
	for i, s := range t.StagesInOrder() {
		if i == 0 {
			d.arrow([]string{"│ clients upload"})
		}
		d.box(s)
		if s.Last().next() == "" {
			d.out.WriteString(indent + "▼ clients fetch results\n")
			break
		}
		d.arrow(t.edgeLines(s))
	}
	fmt.Fprintf(&d.out, "\nmedics: %s\n", t.medicsText())
	var table [][]string
	for _, n := range t.MedicNodes() {
		table = append(table, []string{"  " + string(n.ID), n.Host, NamedEndpoint{KindControl, n.Sockets.Control}.short()})
	}
	for _, row := range align(table) {
		fmt.Fprintln(&d.out, row)
	}
	return d.out.String()
}

type textDrawing struct {
	t     *Topology
	rows  map[string][]string // by stage; all rows have the same width
	width int                 // width inside the boxes
	out   strings.Builder
}

// indent is the column of the arrows.
const indent = "      "

func (d *textDrawing) measure() int {
	width := 0
	for _, s := range d.t.Stages {
		width = max(width, utf8.RuneCountInString(stageHeading(s))+2)
		for _, row := range d.rows[s.Name] {
			width = max(width, utf8.RuneCountInString(row))
		}
	}
	return width
}

func (d *textDrawing) heading() {
	t := d.t
	fmt.Fprintf(&d.out, "%s: %s\n\n", t.Name, t.summary())
	var table [][]string
	if t.Transport != ZMQ {
		table = append(table, []string{"broker " + t.Transport, t.BrokerURL()})
	}
	for _, h := range t.Hosts {
		table = append(table, []string{"host " + h.Name, h.where()})
	}
	for _, row := range align(table) {
		fmt.Fprintln(&d.out, row)
	}
	d.out.WriteString("\n")
}

func (d *textDrawing) box(s Stage) {
	title := stageHeading(s)
	fmt.Fprintf(&d.out, "┌─ %s %s┐\n", title, strings.Repeat("─", d.width-utf8.RuneCountInString(title)-1))
	for _, row := range d.rows[s.Name] {
		fmt.Fprintf(&d.out, "│ %s%s │\n", row, strings.Repeat(" ", d.width-utf8.RuneCountInString(row)))
	}
	fmt.Fprintf(&d.out, "└%s┘\n", strings.Repeat("─", d.width+2))
}

func (d *textDrawing) arrow(lines []string) {
	for _, line := range lines {
		fmt.Fprintf(&d.out, "%s%s\n", indent, line)
	}
	d.out.WriteString(indent + "▼\n")
}

// edgeLines describes the edges that leave a stage.
func (t *Topology) edgeLines(s Stage) []string {
	var table [][]string
	for _, e := range t.EdgesFrom(s.Name) {
		table = append(table, []string{e.stroke() + " " + e.what(), string(e.Socket), e.routeText(), count(t.links(e), "link")})
	}
	return align(table)
}

// stroke draws reference edges differently, as the dashes of the SVG do.
func (e Edge) stroke() string {
	if e.Streams == Reference {
		return "┆"
	}
	return "│"
}

func (e Edge) routeText() string {
	switch e.Route {
	case Any:
		return "to any"
	case Hash:
		return "by hash of " + string(e.Key)
	}
	return "to all"
}

func stageHeading(s Stage) string {
	if len(s.Chain) == 1 && string(s.Chain[0]) == s.Name {
		return s.Name
	}
	return s.Name + " (" + strings.Join(words(s.Chain), " → ") + ")"
}

// nodeRows returns a line for each node, by stage, with columns that align over all stages.
func (t *Topology) nodeRows() map[string][]string {
	nodes := t.Nodes()
	table := make([][]string, len(nodes))
	for i, n := range nodes {
		table[i] = []string{string(n.ID), n.Host}
		for _, e := range []NamedEndpoint{{KindData, n.Sockets.Data}, {KindControl, n.Sockets.Control}, {KindBroadcast, n.Sockets.Broadcast},
			{KindClient, n.Sockets.Client}} {
			table[i] = append(table[i], e.short())
		}
	}
	rows := map[string][]string{}
	for i, row := range align(table) {
		rows[nodes[i].Stage] = append(rows[nodes[i].Stage], row)
	}
	return rows
}

// short returns the socket for a picture: "data 5503"; for a unix socket the name is enough.
func (e NamedEndpoint) short() string {
	if !e.Exists() {
		return ""
	}
	dial, bind := port(e.Dial), port(e.Bind)
	switch {
	case strings.HasPrefix(e.Dial, "ipc:"):
		return string(e.Kind)
	case dial != bind:
		return fmt.Sprintf("%s %d→%d", e.Kind, dial, bind)
	}
	return fmt.Sprintf("%s %d", e.Kind, dial)
}

func (h Host) where() string {
	switch {
	case h.Address == nowhere:
		return "this machine: unix sockets, in a directory that posta up makes"
	case h.IPC():
		return "unix sockets in " + strings.TrimPrefix(h.Address, ipcPrefix)
	}
	at := fmt.Sprintf("%s, ports from %d", h.Address, h.Ports)
	if h.Bind != h.Address || h.BindPorts != h.Ports {
		at += fmt.Sprintf(", listening on %s from %d", h.Bind, h.BindPorts)
	}
	return at
}

func (t *Topology) summary() string {
	return strings.Join([]string{count(len(t.Stages), "stage"), count(len(t.Nodes()), "node"), count(len(t.Hosts), "host"), t.Transport}, ", ")
}

func (t *Topology) medicsText() string {
	if t.Medics.Replicas == 0 {
		return "none"
	}
	return fmt.Sprintf("%d, heartbeat every %s, suspect after %s", t.Medics.Replicas, durationText(t.Medics.Heartbeat),
		durationText(t.Medics.SuspectAfter))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// align pads the columns of a table and drops those that are empty in every row.
func align(table [][]string) []string {
	widths := map[int]int{}
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(table))
	for r, row := range table {
		var cells []string
		for i, cell := range row {
			if widths[i] > 0 {
				cells = append(cells, cell+strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
			}
		}
		lines[r] = strings.TrimRight(strings.Join(cells, "   "), " ")
	}
	return lines
}
