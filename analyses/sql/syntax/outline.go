package syntax

import "strings"

// Outline returns a statement as Print writes it, with a question mark in place of each string and number. It is safe to show
// to people who may know that a statement runs, but not which values it asks for. For a text that cannot be split into tokens
// it returns "".
func Outline(statement string) (outline string) {
	defer func() {
		if e := recover(); e != nil {
			if _, wrong := e.(*Error); !wrong {
				panic(e)
			}
			outline = ""
		}
	}()
	var b strings.Builder
	l := lexer{text: statement}
	shown := 0
	for l.skip() {
		if t := l.next(); t.kind == text || t.kind == number {
			b.WriteString(statement[shown:t.at])
			b.WriteByte('?')
			shown = l.i
		}
	}
	b.WriteString(statement[shown:])
	return b.String()
}
