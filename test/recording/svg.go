package recording

import (
	"fmt"
	"html"
	"strings"
	"time"
)

const (
	cell   = 8.4 // width of a character of 14 pixels, in most fixed-width fonts
	height = 19
	margin = 16
)

const style = `<style>
rect{fill:#f6f8fa;stroke:#d0d7de}text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}.c{fill:#0550ae;font-weight:600}
@media(prefers-color-scheme:dark){rect{fill:#161b22;stroke:#3d444d}text{fill:#d1d7e0}.c{fill:#79c0ff}}
</style>`

// SVG returns the picture. It follows the reader's light or dark setting. If the viewer does not animate pictures, it shows the end of the
// session.
func SVG(lines []Line, about string) string {
	var b strings.Builder
	rows := 0
	for _, l := range lines {
		rows = max(rows, l.Row+1)
	}
	w, h := int(cell*float64(Width(lines)))+2*margin, rows*height+2*margin
	fmt.Fprintf(&b,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\"><title>%s</title>\n%s\n", w, h,
		w, h, html.EscapeString(about), style)
	fmt.Fprintf(&b, "<rect x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", w-1, h-1)
	for _, l := range lines {
		class, hidden := "", ""
		if strings.HasPrefix(l.Text, "$ ") || strings.HasPrefix(l.Text, "> ") { // a user types it
			class = ` class="c"`
		}
		set := fmt.Sprintf(`<set attributeName="visibility" to="hidden" end="%s"/>`, seconds(l.From))
		if l.To > 0 {
			hidden = ` visibility="hidden"`
			set = fmt.Sprintf(`<set attributeName="visibility" to="visible" begin="%s" end="%s"/>`, seconds(l.From), seconds(l.To))
		}
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\"%s%s xml:space=\"preserve\">%s%s</text>\n", margin, margin+14+l.Row*height, class, hidden,
			html.EscapeString(l.Text), set)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }
