package console

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
)

// Sizes in the graph, in its own units: pixels at 100 %.
const (
	graphMargin = 16
	graphHead   = 44 // names of stages
	boxWidth    = 162
	boxHeight   = 68
	boxGap      = 14
	stageGap    = 76  // small enough for five stages in a window of 1,200 pixels
	barWidth    = 8   // of the backlog
	mostLines   = 160 // between single nodes; above that, one line joins two stages
	mostBoxes   = 12  // boxes of a stage in one column; more boxes make further columns
	sideGap     = 10  // between such columns
	widestLine  = 14.0
)

// graph is the pipeline with all positions computed. Text describes it in words.
type graph struct {
	Width, Height int
	Text          string // for readers who cannot see the picture
	Stages        []graphStage
	Flows         []graphFlow
	Lines         []graphLine // blocked lines come last, so they are drawn above the others
	Boxes         []graphBox
}

type graphStage struct {
	X, Y       int
	Name, Note string
}

// graphFlow is the rate from one stage to the next, as text.
type graphFlow struct {
	X, Y int
	Text string
}

// graphLine leads from one node to another, or from stage to stage if there are too many nodes.
type graphLine struct {
	Path    string
	Width   string
	Blocked bool
	X, Y    int // of the sign of a blocked line
}

type graphBox struct {
	X, Y, W, H            int
	ID, Name, State, Host string
	Sign                  sign
	Outline               string // points of the shape that belongs to its sign
	FillY, FillH          int    // the backlog, as a bar that grows from the bottom
	FillX                 int
	Backlog               string
	Title                 string
}

func (s *Seen) graph() graph {
	stages := s.Topology.StagesInOrder()
	at := map[string][]int{} // indices of the boxes of each stage
	var g graph
	byStage := map[string][]*monitor.Status{}
	for i := range s.Nodes {
		byStage[s.Nodes[i].Node.Stage] = append(byStage[s.Nodes[i].Node.Stage], &s.Nodes[i])
	}
	most := 0
	for _, stage := range stages {
		most = max(most, min(mostBoxes, len(byStage[stage.Name])))
	}
	body := most*(boxHeight+boxGap) - boxGap
	x := graphMargin
	for _, stage := range stages {
		nodes := byStage[stage.Name]
		note := units.Plural(len(nodes), "node")
		if roles := rolesText(stage.Chain); roles != stage.Name {
			note = clip(roles, 26)
		}
		g.Stages = append(g.Stages, graphStage{X: x, Y: graphMargin, Name: clip(stage.Name, 20), Note: note})
		columns := max(1, (len(nodes)+mostBoxes-1)/mostBoxes)
		rows := (len(nodes) + columns - 1) / columns
		top := graphMargin + graphHead + (body-(rows*(boxHeight+boxGap)-boxGap))/2
		for i, n := range nodes {
			at[stage.Name] = append(at[stage.Name], len(g.Boxes))
			g.Boxes = append(g.Boxes, s.box(n, x+i/rows*(boxWidth+sideGap), top+i%rows*(boxHeight+boxGap)))
		}
		x += columns*(boxWidth+sideGap) - sideGap + stageGap
	}
	g.Height, g.Width = graphHead+body+2*graphMargin, x-stageGap+graphMargin
	s.connect(&g, stages, byStage, at)
	g.Text = s.inWords(stages, byStage)
	return g
}

func rolesText(chain []topology.Role) string {
	names := make([]string, len(chain))
	for i, r := range chain {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

func clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

func (s *Seen) box(n *monitor.Status, x, y int) graphBox {
	b := graphBox{
		X: x, Y: y, W: boxWidth, H: boxHeight, ID: string(n.Node.ID), Name: clip(string(n.Node.ID), 16), Host: clip(n.Node.Host, 18),
		Sign: n.Sign(), State: stateInBox(n),
		Backlog: size(n.Backlog()), FillX: x + boxWidth - barWidth - 12,
	}
	window := float64(s.Topology.Limits.Window) * float64(max(1, len(n.Beat.Links)))
	inside := boxHeight - 16
	b.FillH = int(math.Round(min(1, float64(n.Backlog())/window) * float64(inside)))
	if n.Backlog() > 0 {
		b.FillH = max(b.FillH, 2)
	}
	b.FillY = y + 8 + inside - b.FillH
	b.Outline = outline(b.Sign, x, y, boxWidth, boxHeight)
	b.Title = fmt.Sprintf("%s on host %s: %s, %s in, %s out, backlog %s", b.ID, n.Node.Host, clean(n.State()), bytesPerSecond(n.InRate),
		bytesPerSecond(n.OutRate), b.Backlog)
	return b
}

// stateInBox returns the state in words that fit into a box. The box's title and the table of nodes have the full text.
func stateInBox(n *monitor.Status) string {
	switch k := n.Sign(); {
	case k == blocked:
		return string(heartbeat.Blocked)
	case k == care && n.Beat.State == heartbeat.Running && n.Busy():
		return "busy"
	case k == care && n.Beat.State == heartbeat.Running:
		return "in trouble"
	}
	return clip(clean(n.State()), 14)
}

// outline returns a shape for each sign: a box, a box with cut corners for a blocked node, and a box with a torn side for a dead one.
func outline(k sign, x, y, w, h int) string {
	var p [][2]int
	switch k {
	case blocked:
		p = [][2]int{{14, 0}, {w - 14, 0}, {w, 14}, {w, h - 14}, {w - 14, h}, {14, h}, {0, h - 14}, {0, 14}}
	case dead:
		p = [][2]int{{0, 0}, {w, 0}, {w - 8, h / 5}, {w, 2 * h / 5}, {w - 8, 3 * h / 5}, {w, 4 * h / 5}, {w - 8, h}, {0, h}, {8, 4 * h / 5},
			{0, 3 * h / 5}, {8, 2 * h / 5}, {0, h / 5}}
	default:
		p = [][2]int{{0, 0}, {w, 0}, {w, h}, {0, h}}
	}
	var b strings.Builder
	for i, xy := range p {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d,%d", x+xy[0], y+xy[1])
	}
	return b.String()
}

// connect draws the lines between stages. Nodes report how much leaves them, not where it goes. So if a stage feeds several others, connect
// shows the rate at which each of those receives.
func (s *Seen) connect(g *graph, stages []topology.Stage, nodes map[string][]*monitor.Status, at map[string][]int) {
	fed := map[string]map[string]bool{}
	lines := 0
	for _, e := range s.Topology.Edges {
		if fed[e.From] == nil {
			fed[e.From] = map[string]bool{}
		}
		if !fed[e.From][e.To] {
			lines += len(nodes[e.From]) * len(nodes[e.To])
		}
		fed[e.From][e.To] = true
	}
	var free, full []graphLine
	for _, from := range stages {
		for i, to := range stages {
			senders, receivers := nodes[from.Name], nodes[to.Name]
			if !fed[from.Name][to.Name] || len(senders) == 0 || len(receivers) == 0 {
				continue
			}
			rate := flow(senders, receivers, len(fed[from.Name]) == 1)
			g.Flows = append(g.Flows, graphFlow{X: g.Stages[i].X - stageGap/2, Y: graphMargin + graphHead - 18, Text: bytesPerSecond(rate)})
			bundled := lines > mostLines || max(len(senders), len(receivers)) > mostBoxes
			whole := line(around(g, at[from.Name]), around(g, at[to.Name]), rate)
			for i, a := range at[from.Name] {
				for j, b := range at[to.Name] {
					l := line(&g.Boxes[a], &g.Boxes[b], rate/float64(len(senders)*len(receivers)))
					switch waiting := waits(senders[i], receivers[j], s.Topology); {
					case bundled:
						whole.Blocked = whole.Blocked || waiting
					case waiting:
						l.Blocked = true
						full = append(full, l)
					default:
						free = append(free, l)
					}
				}
			}
			switch {
			case whole.Blocked:
				full = append(full, whole)
			case bundled:
				free = append(free, whole)
			}
		}
	}
	g.Lines = append(free, full...)
}

// flow returns the bytes per second between two stages, without dead nodes: their last rates no longer hold.
func flow(from, to []*monitor.Status, only bool) (rate float64) {
	of, one := to, func(s *monitor.Status) float64 { return s.InRate }
	if only {
		of, one = from, func(s *monitor.Status) float64 { return s.OutRate }
	}
	for _, s := range of {
		if !s.Silent() {
			rate += one(s)
		}
	}
	return rate
}

// waits reports whether the sender's window towards the receiver is full.
func waits(from, to *monitor.Status, t *topology.Topology) bool {
	if from.Silent() {
		return false
	}
	for _, l := range from.Beat.Links {
		if l.Full && (string(l.To) == string(to.Node.ID) || l.To == "" && leadsTo(t, l, to.Node.Stage)) {
			return true
		}
	}
	return false
}

func leadsTo(t *topology.Topology, l heartbeat.Link, stage string) bool {
	for _, e := range t.Edges {
		if e.Name() == l.Edge {
			return e.To == stage
		}
	}
	return false
}

// line returns a curve between two boxes. Its width grows with the square root of the rate in MB/s, so 1 MB/s is still visible beside 100
// MB/s.
func line(a, b *graphBox, rate float64) graphLine {
	x1, y1, x2, y2 := a.X+a.W, a.Y+a.H/2, b.X, b.Y+b.H/2
	bend := stageGap / 2
	return graphLine{
		Path:  fmt.Sprintf("M%d %d C%d %d %d %d %d %d", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2),
		Width: fmt.Sprintf("%.1f", lineWidth(rate)), X: (x1 + x2) / 2, Y: (y1 + y2) / 2,
	}
}

func lineWidth(rate float64) float64 {
	return math.Round(10*min(widestLine, 1+1.2*math.Sqrt(max(0, rate)/1e6))) / 10
}

// around returns the smallest box around boxes.
func around(g *graph, boxes []int) *graphBox {
	all := g.Boxes[boxes[0]]
	for _, i := range boxes[1:] {
		b := &g.Boxes[i]
		right, bottom := max(all.X+all.W, b.X+b.W), max(all.Y+all.H, b.Y+b.H)
		all.X, all.Y = min(all.X, b.X), min(all.Y, b.Y)
		all.W, all.H = right-all.X, bottom-all.Y
	}
	return &all
}

// inWords describes the picture in words.
func (s *Seen) inWords(stages []topology.Stage, nodes map[string][]*monitor.Status) string {
	var parts []string
	for _, stage := range stages {
		count, bad := len(nodes[stage.Name]), 0
		for _, n := range nodes[stage.Name] {
			if n.Sign() != fine {
				bad++
			}
		}
		text := fmt.Sprintf("%s: %s", stage.Name, units.Plural(count, "node"))
		if bad > 0 {
			text += fmt.Sprintf(", %d not running freely", bad)
		}
		parts = append(parts, text)
	}
	return "The pipeline, from left to right. " + strings.Join(parts, "; ") + ". The table of nodes below says the same in words."
}
