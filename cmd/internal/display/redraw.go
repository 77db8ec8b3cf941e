package display

import (
	"fmt"
	"io"
	"strings"
)

// Redraw is lines on a terminal that are drawn over and over.
type Redraw struct {
	Out   io.Writer
	drawn int // lines on the terminal that are ours
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

// Clear takes the lines away, so that what follows is not drawn over.
func (r *Redraw) Clear() {
	if r.drawn > 0 {
		fmt.Fprintf(r.Out, "\x1b[%dA\r\x1b[J", r.drawn)
	}
	r.drawn = 0
}

// Bar is full cells and empty ones.
func Bar(full, cells int) string {
	return strings.Repeat("█", full) + strings.Repeat("·", cells-full)
}
