package split

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/syntax"
)

// asks describes in one line what a session of the plan computes: which pass of which statement. outline is the same without
// strings and numbers.
func (p *Plan) asks(script *syntax.Script, name string) (asks, outline string) {
	text := name
	for _, st := range script.Statements {
		if st.Name.Name == name {
			text = syntax.Print(&syntax.Script{Statements: []syntax.Statement{{At: st.At, Node: st.Node}}})
		}
	}
	before, passed := "", 0
	for _, rows := range p.Answers {
		if rows != nil {
			passed++
		}
	}
	if p.Rows != nil {
		passed++
	}
	switch {
	case p.Pass == Late:
		before = fmt.Sprintf("pass %d, which rows are the first, of: ", passed+1)
	case p.Pass > 0:
		before = fmt.Sprintf("pass %d, a query in WHERE, of: ", passed+1)
	case passed > 0:
		before = fmt.Sprintf("pass %d, the last one, of: ", passed+1)
	}
	if len(p.Also) > 0 {
		before = fmt.Sprintf("%d statements, first: %s", 1+len(p.Also), before)
	}
	return oneLine(before + text), oneLine(before + syntax.Outline(text))
}

// oneLine shortens a text to the length that analyses allow for it.
func oneLine(text string) string {
	text = strings.ToValidUTF8(strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ";"), "?")
	if len(text) <= analyses.MaxAsks {
		return text
	}
	const more = "…"
	at := analyses.MaxAsks - len(more)
	for !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at] + more
}
