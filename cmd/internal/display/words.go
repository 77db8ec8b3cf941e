package display

import (
	"strings"
)

// Quoted quotes a word for a shell.
func Quoted(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=/.,:@%+"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Joined returns names with commas between them.
func Joined[T ~string](all []T) string {
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = string(n)
	}
	return strings.Join(names, ", ")
}

// widestAsks is how many characters of a session's statement the table shows; --json has more.
const widestAsks = 100

// Shortened cuts the text of a statement where it would be too wide for a line.
func Shortened(text string) string {
	if r := []rune(text); len(r) > widestAsks {
		return string(r[:widestAsks-1]) + "…"
	}
	return text
}
