package vader

import (
	"unicode/utf8"
)

// padding is how many bytes must follow a text, so that words can be loaded eight bytes at a time.
const padding = 8

// describe puts text into a.text with emoji replaced by their descriptions. A space separates a description from the text
// before it, but not from the text after it.
func (a *Analyzer) describe(text []byte) {
	a.text = a.text[:0]
	done := 0
	afterSpace := true
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			afterSpace = text[i] == ' '
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		description, ok := a.lex.emoji[r]
		if !ok || r == utf8.RuneError {
			afterSpace = false
			i += n
			continue
		}
		a.text = append(a.text, text[done:i]...)
		if !afterSpace {
			a.text = append(a.text, ' ')
		}
		a.text = append(a.text, description...)
		afterSpace = false
		i += n
		done = i
	}
	a.text = append(a.text, text[done:]...)
}
