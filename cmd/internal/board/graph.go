package board

import (
	"fmt"
	"strings"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/topology"
)

// mostMarks is how many nodes of a stage have their own mark. If a stage has more, they are counted.
const mostMarks = 8

// graph returns the pipeline in characters: a box for each stage if the terminal is wide enough, else the stages one after the other.
func (s *Seen) graph(width int) []line {
	stages := s.Topology.StagesInOrder()
	if len(stages) == 0 {
		return nil
	}
	if lines := s.boxes(stages); display.Width(lines[1].text) <= width {
		return lines
	}
	var lines []line
	now := ""
	for i, st := range stages {
		part := st.Name + " " + s.marksOf(st.Name)
		if i > 0 {
			part = "─" + s.flow(stages[i-1], st) + "▶ " + part
		}
		if now != "" && display.Width(now)+1+display.Width(part) > width {
			lines = append(lines, line{now, s.colour(stages)})
			now = ""
		}
		if now != "" {
			now += " "
		}
		now += part
	}
	return append(lines, line{now, s.colour(stages)})
}

// boxes returns three lines. The flow between two stages is written above the arrow.
func (s *Seen) boxes(stages []topology.Stage) []line {
	var top, middle, bottom strings.Builder
	for i, st := range stages {
		if i > 0 {
			flow := s.flow(stages[i-1], st)
			w := max(5, display.Width(flow)+2)
			top.WriteString(centre(flow, w))
			middle.WriteString(strings.Repeat("─", w-1) + "▶")
			bottom.WriteString(strings.Repeat(" ", w))
		}
		marks := s.marksOf(st.Name)
		w := max(display.Width(st.Name)+2, display.Width(marks)) + 2
		top.WriteString("┌ " + st.Name + " " + strings.Repeat("─", w-2-display.Width(st.Name)) + "┐")
		middle.WriteString("│ " + marks + strings.Repeat(" ", w-1-display.Width(marks)) + "│")
		bottom.WriteString("└" + strings.Repeat("─", w) + "┘")
	}
	colour := s.colour(stages)
	return []line{{top.String(), colour}, {middle.String(), colour}, {bottom.String(), colour}}
}

func centre(text string, width int) string {
	left := (width - display.Width(text)) / 2
	return strings.Repeat(" ", left) + text + strings.Repeat(" ", width-left-display.Width(text))
}

func (s *Seen) of(stage string) (all []*monitor.Status) {
	for i := range s.Nodes {
		if s.Nodes[i].Node.Stage == stage {
			all = append(all, &s.Nodes[i])
		}
	}
	return all
}

func (s *Seen) marksOf(stage string) string {
	nodes := s.of(stage)
	var b strings.Builder
	if len(nodes) <= mostMarks {
		for _, n := range nodes {
			b.WriteString(marks[n.Sign()])
		}
		return b.String()
	}
	counts := map[sign]int{}
	for _, n := range nodes {
		counts[n.Sign()]++
	}
	for _, k := range monitor.Signs {
		if n := counts[k]; n > 0 {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%s×%d", marks[k], n)
		}
	}
	return b.String()
}

// colour returns the colour of the worst node.
func (s *Seen) colour(stages []topology.Stage) string {
	worst := fine
	for _, st := range stages {
		for _, n := range s.of(st.Name) {
			worst = worst.Worse(n.Sign())
		}
	}
	return colours[worst]
}

// flow returns what goes from one stage to the next; "" if no edge leads there. Nodes report how much leaves them and how much reaches
// them, but not where it goes. So if only one stage feeds the other, flow shows what reaches the other.
func (s *Seen) flow(from, to topology.Stage) string {
	feeds, only := false, true
	for _, e := range s.Topology.Edges {
		if e.To == to.Name {
			feeds = feeds || e.From == from.Name
			only = only && e.From == from.Name
		}
	}
	if !feeds {
		return ""
	}
	var rate float64
	if only {
		for _, n := range s.of(to.Name) {
			if !n.Silent() {
				rate += n.InRate
			}
		}
	} else {
		for _, n := range s.of(from.Name) {
			if !n.Silent() {
				rate += n.OutRate
			}
		}
	}
	return size(uint64(rate)) + "/s"
}
