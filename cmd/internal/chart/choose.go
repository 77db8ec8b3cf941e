package chart

import (
	"math"
	"slices"
	"strings"

	"posta.dev/posta/protocol"
)

// Kind is a kind of chart.
type Kind string

// The kinds of charts.
const (
	Bars   Kind = "bars"   // a bar for each row
	Lines  Kind = "lines"  // over time, or over a column of numbers that grows
	Points Kind = "points" // one column of numbers against another one
)

// MostRows is how many rows of an answer Of looks at. A caller need not keep more.
const MostRows = 2000

// Bounds of a picture.
const (
	mostBars   = 30
	mostPanels = 4
	mostSeries = 6
)

// Chart is a chart of an answer.
type Chart struct {
	Kind  Kind
	X     string // the column below or beside the panels
	Rows  int    // rows that are drawn
	Of    int    // rows that the answer has
	Extra int    // columns of numbers without a panel

	dates  bool     // X is a time, in seconds since 1970
	labels []string // of bars
	panels []panel
}

// panel is one column of numbers.
type panel struct {
	name   string
	series []series
}

// series is the values of a panel that belong together. A panel of bars has one series, without x.
type series struct {
	name string
	x, y []float64 // y is NaN where there is no number
}

// Of chooses a chart for the first rows of an answer; all is how many rows the answer has. It reports false if no chart says more than the
// table: the answer has no column of numbers, fewer than two rows, or no column that tells rows apart.
func Of(columns []string, rows [][]protocol.Value, all int) (*Chart, bool) {
	rows = rows[:min(len(rows), MostRows)]
	if len(rows) < 2 {
		return nil, false
	}
	kinds := make([]kind, len(columns))
	var numbers, texts []int
	for i := range columns {
		kinds[i] = kindOf(rows, i)
		switch kinds[i] {
		case number:
			numbers = append(numbers, i)
		case text, date:
			texts = append(texts, i)
		}
	}
	c := &Chart{Rows: len(rows), Of: max(all, len(rows))}
	switch first := slices.Index(kinds, date); {
	case len(numbers) == 0:
		return nil, false
	case first >= 0 && len(texts) <= 2 && c.overTime(columns, rows, first, texts, numbers):
	case len(texts) > 0:
		c.bars(columns, rows, texts, numbers)
	case len(numbers) == 1:
		return nil, false
	case grows(rows, numbers[0]):
		c.Kind = Lines
		c.against(columns, rows, numbers)
	default:
		c.Kind = Points
		c.against(columns, rows, numbers)
	}
	return c, true
}

// overTime makes a line for each value of the other column of texts. It reports false if there are too many of them, or if one has two
// values for the same time.
func (c *Chart) overTime(columns []string, rows [][]protocol.Value, at int, texts, numbers []int) bool {
	names, by := []string{}, map[string][]int{}
	type moment struct {
		series string
		at     float64
	}
	seen := map[moment]bool{}
	for r, row := range rows {
		name := ""
		for _, t := range texts {
			if t != at {
				name = row[t].String()
			}
		}
		x := seconds(row[at])
		if math.IsNaN(x) {
			continue
		}
		if seen[moment{name, x}] {
			return false
		}
		seen[moment{name, x}] = true
		if by[name] == nil {
			names = append(names, name)
		}
		by[name] = append(by[name], r)
	}
	if len(names) > mostSeries || len(names) == 0 {
		return false
	}
	c.Kind, c.X, c.dates = Lines, columns[at], true
	c.panel(columns, numbers, func(column int) (all []series) {
		for _, name := range names {
			s := series{name: name}
			for _, r := range by[name] {
				s.x, s.y = append(s.x, seconds(rows[r][at])), append(s.y, float(rows[r][column]))
			}
			s.sort()
			all = append(all, s)
		}
		return all
	})
	return true
}

func (c *Chart) bars(columns []string, rows [][]protocol.Value, texts, numbers []int) {
	c.Kind, c.Rows = Bars, min(len(rows), mostBars)
	var names []string
	for _, t := range texts {
		names = append(names, columns[t])
	}
	c.X = strings.Join(names, ", ")
	for _, row := range rows[:c.Rows] {
		var parts []string
		for _, t := range texts {
			label := row[t].String()
			if row[t].Kind == protocol.Null {
				label = "NULL"
			}
			parts = append(parts, label)
		}
		c.labels = append(c.labels, strings.Join(parts, ", "))
	}
	c.panel(columns, numbers, func(column int) []series {
		var s series
		for _, row := range rows[:c.Rows] {
			s.y = append(s.y, float(row[column]))
		}
		return []series{s}
	})
}

// against draws the other columns of numbers over the first one.
func (c *Chart) against(columns []string, rows [][]protocol.Value, numbers []int) {
	c.X = columns[numbers[0]]
	c.panel(columns, numbers[1:], func(column int) []series {
		var s series
		for _, row := range rows {
			if x := float(row[numbers[0]]); !math.IsNaN(x) {
				s.x, s.y = append(s.x, x), append(s.y, float(row[column]))
			}
		}
		return []series{s}
	})
}

func (c *Chart) panel(columns []string, numbers []int, of func(column int) []series) {
	for _, n := range numbers[:min(len(numbers), mostPanels)] {
		c.panels = append(c.panels, panel{columns[n], of(n)})
	}
	c.Extra = len(numbers) - len(c.panels)
}

// grows reports whether each number is larger than the one before.
func grows(rows [][]protocol.Value, column int) bool {
	for i := 1; i < len(rows); i++ {
		if !(float(rows[i-1][column]) < float(rows[i][column])) {
			return false
		}
	}
	return true
}
