package syntax

import (
	"slices"
	"strings"
)

// Ends reports whether a text that is typed line by line is complete: it ends with a semicolon that is not part of a string, a
// name or a comment. A text that no further line can make valid also counts as complete.
func Ends(text string) (ends bool) {
	l := lexer{text: text}
	defer func() {
		if e := recover(); e != nil {
			if _, ok := e.(*Error); !ok {
				panic(e)
			}
			ends = !l.open && strings.HasSuffix(strings.TrimSpace(text), ";")
		}
	}()
	if len(text) > MaxText {
		return true
	}
	l.run()
	n := len(l.tokens) // including the end token
	return n > 1 && l.tokens[n-2].low == ";"
}

// Keywords returns the words that begin clauses or join expressions, in lower case and sorted.
func Keywords() []string {
	all := slices.Clone(clauseWords)
	for w := range reserved {
		if _, refused := refusedWords[w]; !refused {
			all = append(all, w)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
