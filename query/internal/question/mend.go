package question

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/infer"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
)

// fewer is how many bytes of small tables are left in joiners if more did not fit. If these do not, the next plan has none. To have none at
// once was rejected: a join of large tables then has no place where its rows are read, and takes ten times as long.
const fewer = split.MaxReference / 16

// Mend changes the plan after a session failed, so that it can be tried again, and says what it changed; "" if there is nothing to change.
// A column gets the type that it turned out to need. If tables did not fit into joiners as a whole, fewer tables go there.
func (q *Question) Mend(ctx context.Context, reason error) (told string, err error) {
	if exec.Overfull(reason) && q.small >= 0 {
		what := "with none"
		if q.small == 0 {
			q.small, what = fewer, "with fewer"
		} else {
			q.small = -1
		}
		return "the small tables take more of a joiner's memory than it has, or than their files made one expect; asking again, " + what +
			" of them in joiners", q.bind(ctx)
	}
	w := infer.WiderOf(reason)
	if w == nil {
		return "", nil
	}
	for _, t := range q.tables {
		if t.sampled == nil || t.Name != w.Table || slices.Contains(t.widened, w.Column+" "+w.Is.String()) {
			continue
		}
		t.widened = append(t.widened, w.Column+" "+w.Is.String())
		w.Is = needs(w)
		t.sampled.Widen(w.Column, w.Is)
		return fmt.Sprintf("column %s of %s is %s, not %s as in the samples (it holds %q); asking again", w.Column, w.Table, w.Is, w.Was,
			w.Value), q.bind(ctx)
	}
	return "", nil
}

// needs returns the type that a column needs for a value that samples did not show. Integers beyond 64 bits stay exact.
func needs(w *infer.Wider) types.Kind {
	if w.Was == types.BigInt && infer.Large([]byte(w.Value)) {
		return types.Text
	}
	return w.Is
}

// Declaration returns the CREATE TABLE that would have prevented the failure of a session, if samples did not show a column's type; "" if
// it failed for another reason.
func (q *Question) Declaration(reason error) string {
	w := infer.WiderOf(reason)
	i := slices.IndexFunc(q.tables, func(t *table) bool { return w != nil && t.sampled != nil && t.Name == w.Table })
	if i < 0 {
		return ""
	}
	t := q.tables[i]
	t.sampled.Widen(w.Column, needs(w))
	var columns []string
	for _, c := range t.sampled.Columns() {
		if len(columns) == mostDeclared {
			columns = append(columns, "and so on")
			break
		}
		columns = append(columns, syntax.PrintName(c.Name)+" "+c.Type.String())
	}
	name, files := syntax.PrintName(t.Name), t.Files
	if t.File {
		name = "t"
	}
	if t.Files == stdinName {
		files = StandardInput
	}
	text := fmt.Sprintf("CREATE TABLE %s FROM '%s' (%s);", name, strings.ReplaceAll(files, "'", "''"), strings.Join(columns, ", "))
	if len(t.with) > 0 {
		text = strings.TrimSuffix(text, ";") + " WITH (" + strings.Join(t.with, ", ") + ");"
	}
	if t.File {
		text += " and FROM t"
	}
	return text
}

// Mends reports whether Mend changes a plan after an error.
func Mends(reason error) bool {
	return infer.WiderOf(reason) != nil || exec.Overfull(reason)
}
