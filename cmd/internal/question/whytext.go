package question

import (
	"fmt"
	"strings"

	"posta.dev/posta/analyses/sql/infer"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// explainText adds to an error about a TEXT column which value made the column a TEXT, if samples also hold values of another type. Often one row of
// a file is wrong, and not the statement.
func (q *Question) explainText(e *syntax.Error) {
	if !strings.Contains(e.Message, types.Of(types.Text).String()) {
		return
	}
	for _, column := range e.Columns {
		var why infer.Value
		others, found := types.Null, 0
		for _, t := range q.tables {
			if t.sampled == nil {
				continue
			}
			if v, k, ok := t.sampled.Because(column); ok {
				why, others = v, k
				found++
			}
		}
		if found != 1 { // with two such tables it is not clear which one is meant
			continue
		}
		e.Message += fmt.Sprintf(": %s is TEXT because of %q in %s", column, why.Text, why.File)
		if why.Line > 0 {
			e.Message += fmt.Sprintf(":%d", why.Line)
		}
		e.Hint = strings.TrimSpace(fmt.Sprintf("TRY_CAST(%s AS %s) makes NULL of such values. %s", syntax.PrintName(column), others, e.Hint))
		return
	}
}
