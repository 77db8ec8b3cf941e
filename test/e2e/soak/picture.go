package soak

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Sizes of the picture, in its own units.
const (
	wide      = 760
	leftSide  = 60
	rightSide = 120
	high      = 150
	headHigh  = 24
	footHigh  = 26
)

const style = `<style>text{font:12px sans-serif;fill:#222}.head{font-weight:600;font-size:13px}.grid{stroke:#888;stroke-opacity:.3}polyline{fill:none;stroke-width:1.5}.end{text-anchor:end}.mid{text-anchor:middle}
svg{background:#fff}</style>`

var colours = []string{"#0b5394", "#a04a00", "#1b6e3c", "#7a2f9e", "#b01c1c", "#4d5661"}

type drawn struct {
	name string
	line *Line
}

// Picture draws what spared processes hold, all logs, and the times of sessions.
func (r *Report) Picture() string {
	var memory, files, goroutines, disk []drawn
	for i := range r.Processes {
		p := &r.Processes[i]
		if p.Spared {
			memory, files, goroutines = append(memory, drawn{p.Name, &p.Memory}), append(files, drawn{p.Name, &p.Files}),
				append(goroutines, drawn{p.Name, &p.Goroutines})
		}
		if stage(p.Name) != "medic" && p.Spared {
			disk = append(disk, drawn{p.Name, &p.Disk})
		}
	}
	panels := []struct {
		name  string
		lines []drawn
	}{
		{"resident memory of processes that no fault hits, MB", memory},
		{"open files", files},
		{"goroutines", goroutines},
		{"data directory, MB", disk},
		{"time of a session, s, by the minute", []drawn{{"p50", &r.Latency[0]}, {"p95", &r.Latency[1]}}},
	}
	var b strings.Builder
	y := 0
	hours := math.Max(r.To.Sub(r.From).Hours(), 1./60)
	for _, p := range panels {
		y += headHigh
		text(&b, leftSide, y-8, "head", p.name)
		panel(&b, y, hours, p.lines)
		y += high + footHigh
	}
	return fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="memory, open files, goroutines, logs and times of sessions over %.1f hours">`+
			"\n%s\n%s</svg>\n", wide, y, hours, style, b.String())
}

func panel(b *strings.Builder, top int, hours float64, lines []drawn) {
	most := 0.
	for _, l := range lines {
		for _, v := range l.line.Values {
			most = math.Max(most, v)
		}
	}
	most = round(most)
	for i := range 3 {
		v := most * float64(i) / 2
		y := float64(top) + high*(1-float64(i)/2)
		fmt.Fprintf(b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`+"\n", leftSide, wide-rightSide, y, y)
		text(b, leftSide-6, int(y)+4, "end", fmt.Sprintf("%.3g", v))
	}
	width := float64(wide - leftSide - rightSide)
	for i := range 5 {
		h := hours * float64(i) / 4
		text(b, leftSide+int(width*float64(i)/4), top+high+16, "mid", fmt.Sprintf("%.0f min", h*60))
	}
	for i, l := range lines {
		var points strings.Builder
		for k, h := range l.line.Hours {
			fmt.Fprintf(&points, "%.1f,%.1f ", leftSide+width*h/hours, float64(top)+high*(1-l.line.Values[k]/most))
		}
		colour := colours[i%len(colours)]
		fmt.Fprintf(b, `<polyline stroke="%s" points="%s"/>`+"\n", colour, strings.TrimSpace(points.String()))
		fmt.Fprintf(b, `<text x="%d" y="%d" style="fill:%s">%s</text>`+"\n", wide-rightSide+8, top+12+16*i, colour, html.EscapeString(l.name))
	}
}

// round returns the next larger number with one or two digits.
func round(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	return math.Ceil(v/unit*2) * unit / 2
}

func text(b *strings.Builder, x, y int, class, s string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" class="%s">%s</text>`+"\n", x, y, class, html.EscapeString(s))
}
