package display

import (
	"fmt"
	"io"
	"strings"
)

// Redraw is a group of lines on a terminal that are drawn again and again.
type Redraw struct {
	Out   io.Writer
	drawn int // lines on the terminal that Draw wrote
}

// Draw puts lines in place of those that it drew before.
func (r *Redraw) Draw(lines []string) {
	up := ""
	if r.drawn > 0 {
		up = fmt.Sprintf("\x1b[%dA", r.drawn)
	}
	r.drawn = len(lines)
	_, _ = io.WriteString(r.Out, up+"\r\x1b[J"+strings.Join(lines, "\n")+"\n")
}

// Clear removes the lines, so that Draw does not draw over later output.
func (r *Redraw) Clear() {
	if r.drawn > 0 {
		fmt.Fprintf(r.Out, "\x1b[%dA\r\x1b[J", r.drawn)
	}
	r.drawn = 0
}

// Bar returns a bar of the given number of cells, of which the first ones are full.
func Bar(full, cells int) string {
	return strings.Repeat("█", full) + strings.Repeat("·", cells-full)
}
