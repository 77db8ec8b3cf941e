package split

import (
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/plan"
)

// Explain describes in words what is read and where it is computed, pass by pass.
func Explain(p *Plan) (string, error) {
	var b strings.Builder
	for n := 1; ; n++ {
		pass := p.NextPass()
		if pass == nil {
			s, err := p.statement()
			if err != nil {
				return "", err
			}
			if n > 1 {
				fmt.Fprintf(&b, "  pass %d\n", n)
			}
			b.WriteString(s.explain())
			if n == 1 {
				b.WriteString("  one pass\n")
			} else {
				fmt.Fprintf(&b, "  %d passes\n", n)
			}
			return b.String(), nil
		}
		s, err := pass.statement()
		if err != nil {
			return "", err
		}
		what := "the query whose answer WHERE needs; it goes to the joiners with the next pass"
		if pass.Pass == Late {
			what = "which rows are the first; the next pass reads only these"
		}
		fmt.Fprintf(&b, "  pass %d: %s\n%s", n, what, s.explain())
		if p, err = p.Answered(pass, nil); err != nil {
			return "", err
		}
	}
}

func (s *statement) explain() string {
	var b strings.Builder
	for _, sc := range s.Order {
		var columns []string
		for _, i := range sc.Wanted {
			c := sc.Table.Columns[i]
			from := ""
			if c.Inferred {
				from = " from samples"
			}
			columns = append(columns, c.Name+" "+c.Type.String()+from)
		}
		fmt.Fprintf(&b, "  parsers read of %s: %s\n", sc.Table.Name, listOr(columns, "nothing, rows are counted"))
		if len(sc.Within) > 0 {
			var bounded []string
			for _, i := range sc.Wanted {
				if sc.Within[i] != nil {
					bounded = append(bounded, sc.Table.Columns[i].Name)
				}
			}
			fmt.Fprintf(&b, "  parsers skip rows of %s by what WHERE says of %s\n", sc.Table.Name, strings.Join(bounded, ", "))
		}
	}
	s.explainReferences(&b)
	for _, l := range s.Leaves {
		where := "joiners"
		if len(s.EarlyLeaves(l.Scan.Stream)) > 0 {
			where = "parsers"
		}
		fmt.Fprintf(&b, "  %s, of %s: %s\n", where, l.Scan.Table.Name, describeLeaf(l))
	}
	s.explainRegions(&b)
	steps := s.tailSteps(s.roots[0].Plan)
	if s.passesOn(&s.roots[0]) != nil {
		steps = slices.DeleteFunc(steps, func(step string) bool { return step == orderStep })
		fmt.Fprintf(&b, "  reducer, of each row by itself: %s\n  outputs: order, in files if there are many rows\n",
			listOr(steps, "nothing but the columns of the answer"))
	} else {
		fmt.Fprintf(&b, "  reducer: %s\n", listOr(steps, "nothing but the columns of the answer"))
	}
	if l, rows := s.head(); l != nil {
		fmt.Fprintf(&b, "  client: stops reading %s when the first %d rows are there\n", l.Scan.Table.Name, rows)
	}
	return b.String()
}

// counted returns a number and a noun, which has an s unless the number is 1.
func counted[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func listOr(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ", ")
}

func describeLeaf(l *exec.Leaf) string {
	what, filters := "", 0
	for _, n := range l.Steps {
		switch n := n.(type) {
		case *plan.Filter:
			filters++
		case *exec.Unnest:
			what += "unnest, "
		case *exec.Broadcast:
			what += "join with " + strings.Join(namesBelow(n.R), ", ") + ", "
		}
	}
	if filters > 0 {
		what += "filter, "
	}
	if what != "" {
		what += "then "
	}
	merger := "aggregators merge"
	if l.Region != nil {
		merger = "the reducer merges"
	}
	switch l.Keep {
	case exec.KeepGroups:
		if len(l.Groups.Node.Keys) == 0 {
			return what + "fold into one row of " + counted(len(l.Groups.Aggs), "aggregate")
		}
		return what + "fold into groups by " + counted(len(l.Groups.Node.Keys), "key") + " with " + counted(len(l.Groups.Aggs), "aggregate") +
			", which " + merger + " by key" + describeCut(l)
	case exec.KeepBest:
		if len(l.Best.Orders) == 0 {
			return what + "keep the first " + counted(l.Best.N, "row")
		}
		return what + "keep the best " + counted(l.Best.N, "row")
	}
	if l.Keep == exec.KeepParts {
		return what + "send the rows to aggregators, by their keys"
	}
	if l.Keep == exec.KeepRows && l.Region != nil {
		return what + "send the groups to the reducer"
	}
	if l.Keep == exec.KeepDistinct {
		return what + "keep different rows, which aggregators merge"
	}
	return what + "send the rows to the reducer"
}

// describeCut says which groups leave the aggregators.
func describeCut(l *exec.Leaf) (what string) {
	if l.AnyOrder {
		return ", and give in any order"
	}
	if l.Cut == nil || !complete(l) {
		return ""
	}
	if l.Cut.Cond != nil {
		what = ", and drop by HAVING or WHERE"
	}
	if l.Cut.N > 0 {
		what += fmt.Sprintf(", and each keep the best %d", l.Cut.N)
	}
	return what
}

// orderStep names the step of a Sort.
const orderStep = "order"

// tailSteps names the steps of the tail in their order. A step that several others read is named once.
func (s *statement) tailSteps(n plan.Node) []string { return s.stepsBelow(n, map[plan.Node]bool{}) }

func (s *statement) stepsBelow(n plan.Node, seen map[plan.Node]bool) (steps []string) {
	if s.ByNode[n] != nil || seen[n] {
		return nil
	}
	seen[n] = true
	for _, in := range plan.Inputs(n) {
		steps = append(steps, s.stepsBelow(in, seen)...)
	}
	switch n.(type) {
	case *plan.Filter:
		steps = append(steps, "filter")
	case *plan.Project:
		steps = append(steps, "compute columns")
	case *plan.Aggregation:
		steps = append(steps, "group")
	case *plan.Sort:
		steps = append(steps, orderStep)
	case *plan.Limit:
		steps = append(steps, "limit")
	case *plan.Unnest:
		steps = append(steps, "unnest")
	case *plan.Windows:
		steps = append(steps, "windows")
	case *plan.Join:
		steps = append(steps, "join")
	case *plan.Distinct:
		steps = append(steps, "remove equal rows")
	case *plan.SetOp:
		steps = append(steps, "combine")
	}
	return steps
}
