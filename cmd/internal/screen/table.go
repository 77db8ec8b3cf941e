package screen

import (
	"strings"
)

// Table is rows under headings.
type Table struct {
	Head  []string
	Right []bool // columns that are aligned to the right, as numbers are; may be shorter than Head
	Rows  [][]string
	Uncut bool // cells are as wide as their text
}

// MaxCell is how wide a cell gets before it is cut.
const MaxCell = 60

const gap = "  "

// Lines lays the table out: the headings, and a line for each row. Cells are escaped, and cut unless told otherwise.
func (t *Table) Lines() []string {
	all := make([][]string, 0, len(t.Rows)+1)
	all = append(all, t.clean(t.Head))
	for _, row := range t.Rows {
		all = append(all, t.clean(row))
	}
	widths := columnWidths(all)
	lines := make([]string, len(all))
	for i, row := range all {
		cells := make([]string, len(row))
		for c, cell := range row {
			cells[c] = pad(cell, widths[c], c < len(t.Right) && t.Right[c])
		}
		lines[i] = strings.TrimRight(strings.Join(cells, gap), " ")
	}
	return lines
}

func (t *Table) clean(row []string) []string {
	out := make([]string, len(row))
	for i, cell := range row {
		out[i] = Escape(cell)
		if !t.Uncut {
			out[i] = Cut(out[i], MaxCell)
		}
	}
	return out
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for c, cell := range row {
			if c == len(widths) {
				widths = append(widths, 0)
			}
			widths[c] = max(widths[c], Width(cell))
		}
	}
	return widths
}
