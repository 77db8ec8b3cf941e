package topology

import (
	"fmt"
	"strings"
)

// suggest returns what to write instead of an unknown word: the nearest known word if there is one, otherwise all known words.
func suggest(word string, known []string) string {
	if near, ok := nearest(word, known); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 {
		return "there is none to choose from"
	}
	return "write one of " + quoteAll(known)
}

// nearest returns the known word with the smallest edit distance; among equals the first. A distance above two, or one that replaces half
// the word, does not count as a typing mistake.
func nearest(word string, known []string) (string, bool) {
	best, least := "", 3
	for _, k := range known {
		if d := distance(word, k); d < least && 2*d < len(k) {
			best, least = k, d
		}
	}
	return best, best != ""
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that lead from a to b (optimal string alignment). It does
// not compare words far longer than any key, because the time grows with the square of their length.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

func quoteAll(words []string) string {
	return strings.Join(texts(words, func(w string) string { return fmt.Sprintf("%q", w) }), ", ")
}
