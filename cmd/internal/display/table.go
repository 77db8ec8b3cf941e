package display

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// Table is rows under headings.
type Table struct {
	Head  []string
	Right []bool // columns that are aligned to the right, as numbers are; may be shorter than Head
	Rows  [][]string
	Most  int // cells that are wider are cut; default 60
}

const (
	gap      = "  "
	mostWide = 60
)

// Print writes the table's lines, with an indent before each.
func (t *Table) Print(w io.Writer, indent string) {
	for _, line := range t.Lines() {
		fmt.Fprintf(w, "%s%s\n", indent, line)
	}
}

// Lines lays the table out: the headings, and a line for each row. Cells are escaped and cut.
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
		out[i] = Cut(Escape(cell), cmp.Or(t.Most, mostWide))
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
