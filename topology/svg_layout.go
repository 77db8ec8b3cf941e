package topology

import (
	"fmt"
	"strings"
)

// Measures of the picture, in its own units.
const (
	margin      = 28
	headTop     = 62 // names of stages, labels of edges
	bodyTop     = 118
	boxWidth    = 186
	boxHeight   = 64
	moreHeight  = 30
	boxGap      = 16
	columnGap   = 192
	clientWidth = 72
	clientGap   = 56
	legendLine  = 22

	// maxBoxes is how many nodes of a stage are drawn one by one; if there are more, the first and the last represent all of them.
	maxBoxes = 8
)

// picture contains all positions; drawing computes nothing more.
type picture struct {
	topology      *Topology
	width, height int
	legendTop     int
	columns       []column
	edges         []drawnEdge
	clients       []drawnClient
}

type column struct {
	stage    Stage
	subtitle string // the chain, if the name does not show it
	x        int
	boxes    []box
}

// box is a node, or represents `more` nodes.
type box struct {
	node      Node
	host      int // index of the host, for the colour
	more      int
	y, height int
}

func (b box) middle() int { return b.y + b.height/2 }

type line struct{ x1, y1, x2, y2 int }

type drawnEdge struct {
	edge           Edge
	lines          []line
	opacity        float64
	labelX, labelY int
}

type drawnClient struct {
	x, y  int
	lines []line
}

func (t *Topology) arrange() picture {
	p := picture{topology: t}
	tallest := 0
	x := margin + clientWidth + clientGap
	for _, s := range t.StagesInOrder() {
		c := t.column(s, x)
		p.columns = append(p.columns, c)
		tallest = max(tallest, c.height())
		x += boxWidth + columnGap
	}
	for i := range p.columns {
		p.columns[i].shift(bodyTop + (tallest-p.columns[i].height())/2)
	}
	p.width = x - columnGap + clientGap + clientWidth + margin
	for _, l := range t.legendTexts() {
		p.width = max(p.width, 2*margin+12+7*len(l))
	}
	p.legendTop = bodyTop + tallest + 58
	p.height = p.legendTop + legendLine*len(t.Hosts) + margin/2
	p.connect()
	p.placeClients(bodyTop + tallest/2)
	return p
}

// legendTexts returns a line for each host and one for the medics.
func (t *Topology) legendTexts() []string {
	lines := make([]string, 0, len(t.Hosts)+1)
	for _, h := range t.Hosts {
		lines = append(lines, "host "+h.Name+": "+h.where())
	}
	medics := "medics: " + t.medicsText()
	if all := t.MedicNodes(); len(all) > 0 {
		last := all[len(all)-1]
		medics += fmt.Sprintf("; %s on %s to %s on %s", all[0].ID, all[0].Host, last.ID, last.Host)
	}
	return append(lines, medics)
}

func (t *Topology) column(s Stage, x int) column {
	c := column{stage: s, x: x}
	if stageHeading(s) != s.Name {
		c.subtitle = strings.Join(words(s.Chain), " → ")
	}
	nodes := t.nodesOf(s.Name)
	for i, n := range nodes {
		b := box{node: n, height: boxHeight, host: t.hostIndex(n)}
		if len(nodes) > maxBoxes && i >= 3 && i < len(nodes)-1 {
			if i > 3 {
				continue
			}
			b = box{more: len(nodes) - 4, height: moreHeight}
		}
		c.boxes = append(c.boxes, b)
	}
	c.shift(0)
	return c
}

// shift stacks the boxes from y downward.
func (c *column) shift(y int) {
	for i := range c.boxes {
		c.boxes[i].y = y
		y += c.boxes[i].height + boxGap
	}
}

func (c column) height() int {
	last := c.boxes[len(c.boxes)-1]
	return last.y + last.height - c.boxes[0].y
}

// connect draws a line for each link. Edges between the same stages leave a box at different heights, so that readers can distinguish them.
func (p *picture) connect() {
	for i := 1; i < len(p.columns); i++ {
		from, to := p.columns[i-1], p.columns[i]
		between := p.topology.edges(func(e Edge) bool { return e.From == from.stage.Name && e.To == to.stage.Name })
		for j, e := range between {
			d := drawnEdge{edge: e, labelX: from.x + boxWidth + 14, labelY: headTop + 14 + 17*j, opacity: 1}
			offset := 24*j - 12*(len(between)-1)
			for _, a := range from.boxes {
				for _, b := range to.boxes {
					d.lines = append(d.lines, line{from.x + boxWidth, a.middle() + offset*a.height/boxHeight, to.x - 1,
						b.middle() + offset*b.height/boxHeight})
				}
			}
			if len(d.lines) > 12 {
				d.opacity = 0.55
			}
			p.edges = append(p.edges, d)
		}
	}
}

func (p *picture) placeClients(y int) {
	first, last := p.columns[0], p.columns[len(p.columns)-1]
	in := drawnClient{x: margin, y: y}
	for _, b := range first.boxes {
		in.lines = append(in.lines, line{margin + clientWidth, y, first.x - 1, b.middle()})
	}
	out := drawnClient{x: last.x + boxWidth + clientGap, y: y}
	for _, b := range last.boxes {
		out.lines = append(out.lines, line{last.x + boxWidth, b.middle(), out.x - 1, y})
	}
	p.clients = []drawnClient{in, out}
}
