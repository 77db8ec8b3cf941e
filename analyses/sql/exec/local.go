package exec

import (
	"fmt"

	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
)

// nothing is a source for plans that read no table.
type nothing struct{}

func (nothing) Has(plan.Node) bool { return false }

func (nothing) Read(n plan.Node, _ func(*operators.Batch) error) error {
	return fmt.Errorf("%T has no rows here", n)
}

// Local answers a plan that reads no table. text is the text that the plan was bound from.
func Local(text string, root plan.Node) (answer [][]any, err error) {
	s := &Fragments{Text: text}
	x := operators.New(nothing{}, TailBytes, root)
	err = x.Each(root, func(rows *operators.Batch) error {
		return emitRows(root.Fields(), rows, func(row ...any) { answer = append(answer, row) })
	})
	if err != nil {
		return nil, Shown(text, s.located(err))
	}
	return answer, nil
}
