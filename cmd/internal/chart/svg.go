package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/cmd/internal/display"
)

// CSS colours a chart. If the page defines colours by these names, the chart uses those.
const CSS = `.chart { display: block; width: 100%; max-width: 60rem; height: auto; --c1: #0b5394; --c2: #a04a00; --c3: #1b6e3c; --c4: #7a2f9e; --c5: #b01c1c; --c6: #4d5661; }
@media (prefers-color-scheme: dark) { .chart { --c1: #7ab8f0; --c2: #f0b65a; --c3: #6fce93; --c4: #d59bf0; --c5: #ff8f8f; --c6: #a9b3be; } }
.chart text { fill: currentColor; font-size: 12px; }
.chart .head { font-weight: 600; font-size: 13px; }
.chart .end { text-anchor: end; }
.chart .middle { text-anchor: middle; }
.chart .grid { stroke: currentColor; stroke-opacity: .2; }
.chart .axis { stroke: currentColor; stroke-opacity: .6; }
.chart polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
.chart circle { fill-opacity: .75; }
.chart .f1 { fill: var(--c1); } .chart .f2 { fill: var(--c2); } .chart .f3 { fill: var(--c3); } .chart .f4 { fill: var(--c4); } .chart .f5 { fill: var(--c5); } .chart .f6 { fill: var(--c6); }
.chart .s1 { stroke: var(--c1); } .chart .s2 { stroke: var(--c2); } .chart .s3 { stroke: var(--c3); } .chart .s4 { stroke: var(--c4); } .chart .s5 { stroke: var(--c5); } .chart .s6 { stroke: var(--c6); }
.chart .s2 { stroke-dasharray: 8 3; } .chart .s3 { stroke-dasharray: 3 3; } .chart .s4 { stroke-dasharray: 9 3 2 3; } .chart .s5 { stroke-dasharray: 14 4; } .chart .s6 { stroke-dasharray: 2 5; }
`

// Sizes in the picture's own units; the picture is scaled to the available width.
const (
	wide       = 720
	left       = 180 // of bars: room for their labels
	leftScale  = 80  // of lines and points: room for the ticks
	right      = 90
	head       = 26
	barStep    = 22
	plotHigh   = 200
	below      = 24
	labelRunes = 24
	nameRunes  = 60
)

// SVG draws the chart. Texts from the answer are escaped.
func (c *Chart) SVG() template.HTML {
	var b strings.Builder
	y := 0
	for i := range c.panels {
		if c.Kind == Bars {
			y = c.barPanel(&b, &c.panels[i], y)
		} else {
			y = c.plotPanel(&b, &c.panels[i], y)
		}
	}
	if note := c.Note(); note != "" {
		y += 18
		write(&b, 0, y-4, "", note)
	}
	whole := fmt.Sprintf(`<svg class="chart" role="img" viewBox="0 0 %d %d" aria-label="%s">%s</svg>`, wide, y+4,
		html.EscapeString(c.words()), b.String())
	return template.HTML(whole) //nolint:gosec // texts are escaped where they are written
}

// Note returns what the picture leaves out; "" if it leaves out nothing.
func (c *Chart) Note() string {
	var parts []string
	if c.Rows < c.Of {
		parts = append(parts, fmt.Sprintf("the first %s of %s rows", units.Count(uint64(c.Rows)), units.Count(uint64(c.Of))))
	}
	if c.Extra > 0 {
		parts = append(parts, fmt.Sprintf("%s of numbers not drawn", units.Plural(c.Extra, "more column")))
	}
	return strings.Join(parts, "; ")
}

// words describes the picture for people who cannot see it. The table beside it has the numbers.
func (c *Chart) words() string {
	var names []string
	for _, p := range c.panels {
		names = append(names, clip(p.name, nameRunes))
	}
	return fmt.Sprintf("%s: %s by %s, %s", c.Kind, strings.Join(names, ", "), clip(c.X, nameRunes), units.Plural(c.Rows, "row"))
}

func (c *Chart) barPanel(b *strings.Builder, p *panel, y int) int {
	values := p.series[0].y
	low, high := bounds(p, func(s *series) []float64 { return s.y })
	low, high = min(low, 0), max(high, 0)
	if low >= high {
		low, high = 0, 1
	}
	room := float64(wide - left - right)
	x := func(v float64) float64 { return left + room*(v-low)/(high-low) }
	write(b, 0, y+18, "head", clip(p.name, nameRunes))
	y += head
	for i, v := range values {
		write(b, left-8, y+15, "end", clip(c.labels[i], labelRunes))
		if !math.IsNaN(v) {
			from, to := min(x(v), x(0)), max(x(v), x(0))
			fmt.Fprintf(b, `<rect class="f1" x="%.1f" y="%d" width="%.1f" height="%d"><title>%s</title></rect>`,
				from, y+3, max(to-from, .5), barStep-6, html.EscapeString(clip(c.labels[i], 200)+": "+numberText(v)))
			write(b, int(to)+6, y+15, "", numberText(v))
		}
		y += barStep
	}
	fmt.Fprintf(b, `<line class="axis" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`, x(0), y-barStep*len(values), x(0), y)
	return y + 8
}

func (c *Chart) plotPanel(b *strings.Builder, p *panel, y int) int {
	write(b, 0, y+18, "head", clip(p.name, nameRunes))
	y += head
	if len(p.series) > 1 {
		y = legend(b, p, y)
	}
	lowX, highX := bounds(p, func(s *series) []float64 { return s.x })
	lowY, highY := bounds(p, func(s *series) []float64 { return s.y })
	if c.Kind == Lines && lowY > 0 && lowY < highY/2 { // the scale begins at 0 if that costs little of the picture
		lowY = 0
	}
	sy := newScale(lowY, highY, 4)
	sx := newScale(lowX, highX, 6)
	at, texts := sx.ticks(), []string(nil)
	if c.dates {
		at, texts = dateTicks(lowX, highX, 5)
		sx = scale{low: lowX, high: highX}
		if lowX == highX {
			sx.high++
		}
	}
	px := func(v float64) float64 { return leftScale + (wide-leftScale-right/2)*sx.at(v) }
	py := func(v float64) float64 { return float64(y) + plotHigh*(1-sy.at(v)) }
	for _, v := range sy.ticks() {
		fmt.Fprintf(b, `<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>`, leftScale, py(v), wide-right/2, py(v))
		write(b, leftScale-6, int(py(v))+4, "end", numberText(v))
	}
	for i, v := range at {
		text := numberText(v)
		if c.dates {
			text = texts[i]
		}
		write(b, int(px(v)), y+plotHigh+16, "middle", text)
	}
	fmt.Fprintf(b, `<line class="axis" x1="%d" y1="%d" x2="%d" y2="%d"/>`, leftScale, y+plotHigh, wide-right/2, y+plotHigh)
	for i := range p.series {
		c.drawSeries(b, &p.series[i], i%mostSeries+1, px, py)
	}
	y += plotHigh + below + 14
	write(b, (leftScale+wide-right/2)/2, y-6, "middle", clip(c.X, nameRunes))
	return y + 6
}

// drawSeries draws points, or lines that end where a number is missing. A number between two gaps becomes a point.
func (c *Chart) drawSeries(b *strings.Builder, s *series, colour int, px, py func(float64) float64) {
	var run []int
	flush := func() {
		switch {
		case len(run) == 1 || c.Kind == Points:
			for _, i := range run {
				fmt.Fprintf(b, `<circle class="f%d" cx="%.1f" cy="%.1f" r="3"/>`, colour, px(s.x[i]), py(s.y[i]))
			}
		case len(run) > 1:
			fmt.Fprintf(b, `<polyline class="s%d" points="`, colour)
			for n, i := range run {
				if n > 0 {
					b.WriteByte(' ')
				}
				fmt.Fprintf(b, "%.1f,%.1f", px(s.x[i]), py(s.y[i]))
			}
			b.WriteString(`"/>`)
		}
		run = run[:0]
	}
	for i, v := range s.y {
		if math.IsNaN(v) {
			flush()
			continue
		}
		run = append(run, i)
	}
	flush()
}

// legend draws an entry for each series, in two columns.
func legend(b *strings.Builder, p *panel, y int) int {
	for i, s := range p.series {
		x := leftScale + i%2*(wide-leftScale)/2
		if i > 0 && i%2 == 0 {
			y += 18
		}
		fmt.Fprintf(b, `<polyline class="s%d" points="%d,%d %d,%d"/>`, i+1, x, y+6, x+34, y+6)
		write(b, x+42, y+10, "", clip(s.name, 36))
	}
	return y + 26
}

// bounds returns the smallest and the largest number; if there is none, low is greater than high.
func bounds(p *panel, of func(*series) []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range p.series {
		for _, v := range of(&p.series[i]) {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return low, high
}

func write(b *strings.Builder, x, y int, class, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(b, `<text%s x="%d" y="%d">%s</text>`, class, x, y, html.EscapeString(text))
}

// clip makes a text from an answer fit into one line.
func clip(text string, runes int) string {
	if len(text) > 8*runes { // otherwise Escape might have to look at megabytes
		text = strings.ToValidUTF8(text[:8*runes], "")
	}
	all := []rune(display.Escape(text))
	if len(all) > runes {
		return string(all[:runes-1]) + "…"
	}
	return string(all)
}
