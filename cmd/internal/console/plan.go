package console

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
)

// stepsShown bounds how many steps a plan's picture has.
const stepsShown = 300

// planPage is a plan as steps: what is read, and what each stage does with it.
type planPage struct {
	Statements []planStatement
	More       int // steps that are left out
}

type planStatement struct {
	Name  string
	Steps []planStep
}

// planStep is one step. Where is a table or a stage.
type planStep struct{ Where, What string }

// planOf reads the output of `posta sql --explain`: a line for each statement, and its steps as indented lines of the form "where: what".
func planOf(text string) (p planPage) {
	n := 0
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if n++; n > stepsShown {
			p.More++
			continue
		}
		step, indented := strings.CutPrefix(line, "  ")
		if !indented || len(p.Statements) == 0 {
			p.Statements = append(p.Statements, planStatement{Name: clean(line)})
			continue
		}
		where, what, split := strings.Cut(step, ": ")
		if !split {
			where, what = "", step
		}
		at := &p.Statements[len(p.Statements)-1]
		at.Steps = append(at.Steps, planStep{clean(strings.TrimSpace(where)), clean(strings.TrimSpace(what))})
	}
	return p
}

func drawPlan(text string) (template.HTML, error) {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, "plan", planOf(text)); err != nil {
		return "", fmt.Errorf("draw the plan: %w", err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // made by html/template
}
