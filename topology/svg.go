package topology

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// SVG draws the topology as a picture for a page: stages as columns, nodes as boxes with their sockets, every link as a
// line, reference edges dashed. It needs nothing from outside, and follows the reader's light or dark setting.
func (t *Topology) SVG() string {
	p := t.arrange()
	var s svgWriter
	s.open(p, fmt.Sprintf("%s: %s", t.Name, t.summary()))
	for _, e := range p.edges {
		s.edge(e)
	}
	for _, c := range p.columns {
		s.column(c)
	}
	s.clients(p)
	s.legend(p)
	s.out.WriteString("</svg>\n")
	return s.out.String()
}

type svgWriter struct{ out strings.Builder }

func (s *svgWriter) open(p picture, title string) {
	fmt.Fprintf(&s.out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", p.width,
		p.height, p.width, p.height)
	fmt.Fprintf(&s.out, "<title>%s</title>\n", html.EscapeString(title))
	s.out.WriteString(svgStyle)
	fmt.Fprintf(&s.out, `<rect class="page" width="%d" height="%d" rx="10"/>`+"\n", p.width, p.height)
	s.text(margin, 38, "h1", title)
}

func (s *svgWriter) text(x, y int, class, text string) {
	fmt.Fprintf(&s.out, `<text x="%d" y="%d" class="%s">%s</text>`+"\n", x, y, class, html.EscapeString(text))
}

func (s *svgWriter) column(c column) {
	s.text(c.x, headTop+14, "stage", clip(c.stage.Name, 17))
	s.text(c.x+boxWidth, headTop+14, "small end", fmt.Sprintf("× %d", c.stage.Replicas))
	s.text(c.x, headTop+31, "small", c.subtitle)
	for _, b := range c.boxes {
		if b.more > 0 {
			fmt.Fprintf(&s.out, `<rect class="more" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", c.x, b.y, boxWidth, b.height)
			s.text(c.x+boxWidth/2, b.y+b.height/2+4, "small middle", fmt.Sprintf("%d more", b.more))
			continue
		}
		s.node(c.x, b)
	}
}

func (s *svgWriter) node(x int, b box) {
	fmt.Fprintf(&s.out, `<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", x, b.y, boxWidth, b.height)
	fmt.Fprintf(&s.out, `<rect class="host%d" x="%d" y="%d" width="4" height="%d" rx="2"/>`+"\n", b.host%hostColours, x+5, b.y+8, b.height-16)
	id := clip(string(b.node.ID), 18)
	s.text(x+17, b.y+21, "node", id)
	s.text(x+boxWidth-10, b.y+21, "small end", clip(b.node.Host, 20-utf8.RuneCountInString(id)))
	for i, e := range b.node.Sockets.List() {
		e.Bind = e.Dial // the legend explains the difference
		s.text(x+17+(i%2)*(boxWidth-22)/2, b.y+39+(i/2)*15, "tiny", e.short())
	}
}

func (s *svgWriter) edge(e drawnEdge) {
	class := "edge"
	if e.edge.Streams == Reference {
		class = "edge reference"
	}
	fmt.Fprintf(&s.out, `<g class="%s" style="opacity:%.2f"><title>%s</title>`+"\n", class, e.opacity, html.EscapeString(e.edge.String()))
	s.arrows(e.lines)
	s.out.WriteString("</g>\n")
	s.sample(e.labelX, e.labelY-4, class)
	s.text(e.labelX+26, e.labelY, "small", e.label())
}

func (s *svgWriter) arrows(lines []line) {
	for _, l := range lines {
		bend := (l.x2 - l.x1) / 2
		fmt.Fprintf(&s.out, `<path d="M%d %d C%d %d %d %d %d %d"/>`+"\n", l.x1, l.y1, l.x1+bend, l.y1, l.x2-bend, l.y2, l.x2-6, l.y2)
		fmt.Fprintf(&s.out, `<path class="head" d="M%d %d l-8 -4 v8 z"/>`+"\n", l.x2+1, l.y2)
	}
}

// label omits "records": an edge of all streams is the only one between its stages.
func (e drawnEdge) label() string {
	routing := string(e.edge.Socket) + " " + e.edge.routeText()
	if e.edge.Streams == AllStreams {
		return routing
	}
	return string(e.edge.Streams) + ": " + routing
}

// clip shortens a name to n characters; for n below four it returns "".
func clip(name string, n int) string {
	runes := []rune(name)
	switch {
	case len(runes) <= n:
		return name
	case n < 4:
		return ""
	}
	return string(runes[:n-1]) + "…"
}

// sample is the short piece of line before a label.
func (s *svgWriter) sample(x, y int, class string) {
	fmt.Fprintf(&s.out, `<g class="%s"><path d="M%d %d h20"/></g>`+"\n", class, x, y)
}

func (s *svgWriter) clients(p picture) {
	for _, c := range p.clients {
		fmt.Fprintf(&s.out, `<rect class="client" x="%d" y="%d" width="%d" height="34" rx="17"/>`+"\n", c.x, c.y-17, clientWidth)
		s.text(c.x+clientWidth/2, c.y+4, "small middle", "clients")
		s.out.WriteString(`<g class="edge thin">` + "\n")
		s.arrows(c.lines)
		s.out.WriteString("</g>\n")
	}
}

func (s *svgWriter) legend(p picture) {
	y := p.legendTop
	fmt.Fprintf(&s.out, `<path class="rule" d="M%d %d H%d"/>`+"\n", margin, y-22, p.width-margin)
	for i, l := range p.topology.legendTexts() {
		if i < len(p.topology.Hosts) {
			fmt.Fprintf(&s.out, `<rect class="host%d" x="%d" y="%d" width="4" height="14" rx="2"/>`+"\n", i%hostColours, margin, y-11)
		}
		s.text(margin+12, y, "small", l)
		y += legendLine
	}
}

const hostColours = 6

// The colours stand in both sets as plain rules: some viewers know no CSS variables.
const svgStyle = `<style>
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:#1f2933}
.h1{font-size:17px;font-weight:600}
.stage{font-size:15px;font-weight:600}
.node{font-size:13px;font-weight:600}
.small{font-size:11.5px;fill:#52606d}
.tiny{font-size:10.5px;fill:#52606d}
.end{text-anchor:end}
.middle{text-anchor:middle}
.page{fill:#ffffff}
.box{fill:#f5f7fa;stroke:#9aa5b1}
.more{fill:none;stroke:#9aa5b1;stroke-dasharray:3 3}
.client{fill:#e4e7eb;stroke:#9aa5b1}
.rule{stroke:#cbd2d9}
.edge path{fill:none;stroke:#2f6f9f;stroke-width:1.5}
.edge .head{fill:#2f6f9f;stroke:none}
.reference path{stroke:#b4631c;stroke-dasharray:5 4}
.reference .head{fill:#b4631c;stroke:none}
.thin path{stroke:#7b8794}
.thin .head{fill:#7b8794}
.host0{fill:#2f6f9f}.host1{fill:#b4631c}.host2{fill:#3d8b5f}.host3{fill:#8a4fa3}.host4{fill:#b83a4b}.host5{fill:#8a7a1f}
@media (prefers-color-scheme:dark){
text{fill:#e4e7eb}
.small,.tiny{fill:#9aa5b1}
.page{fill:#12181f}
.box{fill:#1c252f;stroke:#52606d}
.more{stroke:#52606d}
.client{fill:#2a3541;stroke:#52606d}
.rule{stroke:#323f4b}
.edge path{stroke:#6cb2e6}
.edge .head{fill:#6cb2e6}
.reference path{stroke:#f0a35e}
.reference .head{fill:#f0a35e}
.thin path{stroke:#7b8794}
.thin .head{fill:#7b8794}
.host0{fill:#6cb2e6}.host1{fill:#f0a35e}.host2{fill:#7fd1a3}.host3{fill:#c79be0}.host4{fill:#f08593}.host5{fill:#d6c45e}
}
</style>
`
