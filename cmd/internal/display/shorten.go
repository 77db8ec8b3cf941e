package display

// widestAsks is how many characters of a session's statement the table shows; --json has more.
const widestAsks = 100

// Shortened cuts the text of a statement where it would be too wide for a line.
func Shortened(text string) string {
	if r := []rune(text); len(r) > widestAsks {
		return string(r[:widestAsks-1]) + "…"
	}
	return text
}
