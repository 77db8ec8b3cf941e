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
	Right []bool // columns that are aligned to the right, like numbers; may be shorter than Head
	Rows  [][]string
	Most  int // wider cells are cut to this width; default 60

	Width int   // greatest width of a line; 0: no limit
	Least []int // columns to leave out when Width is too small, in this order
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
	right := t.Right
	if t.Width > 0 {
		all, right = t.fit(all)
	}
	widths := columnWidths(all)
	if t.Width > 0 {
		narrow(widths, t.Width)
	}
	lines := make([]string, len(all))
	for i, row := range all {
		cells := make([]string, len(row))
		for c, cell := range row {
			cells[c] = pad(Cut(cell, widths[c]), widths[c], c < len(right) && right[c])
		}
		lines[i] = strings.TrimRight(strings.Join(cells, gap), " ")
		if t.Width > 0 {
			lines[i] = Cut(lines[i], t.Width)
		}
	}
	return lines
}

// fit leaves out columns of Least, in order, until the others fit or all of Least are left out.
func (t *Table) fit(rows [][]string) (kept [][]string, right []bool) {
	gone := make([]bool, len(t.Head))
	widths := columnWidths(rows)
	for _, c := range t.Least {
		if whole(widths, gone) <= t.Width {
			break
		}
		gone[c] = true
	}
	for _, row := range rows {
		var cells []string
		for c, cell := range row {
			if c >= len(gone) || !gone[c] {
				cells = append(cells, cell)
			}
		}
		kept = append(kept, cells)
	}
	for c := range t.Head {
		if !gone[c] {
			right = append(right, c < len(t.Right) && t.Right[c])
		}
	}
	return kept, right
}

// whole returns the width of lines without the columns that are left out.
func whole(widths []int, gone []bool) int {
	sum := -len(gap)
	for c, w := range widths {
		if c >= len(gone) || !gone[c] {
			sum += w + len(gap)
		}
	}
	return sum
}

// least is the width to which a column is cut at most, in cells.
const least = 8

// narrow takes cells from the widest columns until the lines fit.
func narrow(widths []int, width int) {
	for whole(widths, nil) > width {
		widest := 0
		for c := range widths {
			if widths[c] > widths[widest] {
				widest = c
			}
		}
		if len(widths) == 0 || widths[widest] <= least {
			return
		}
		widths[widest] = max(least, widths[widest]-(whole(widths, nil)-width+1)/2)
	}
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
