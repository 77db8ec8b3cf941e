package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/tail"
)

// Check finds what the engine cannot do yet, before anything is started. For this it runs the tail over no rows. Nodes do not
// call it, because a malicious plan could make that take long.
func Check(p *Plan) error {
	s, err := p.statement()
	if err != nil {
		return err
	}
	if _, err := s.analysis(); err != nil {
		return shown(p.Text, err)
	}
	if p.NextPass() == nil {
		if err := s.checkRows(); err != nil {
			return err
		}
	}
	x := tail.New(empty{func(n plan.Node) bool { return s.byNode[n] != nil }}, TailBytes, s.roots[0].plan)
	_, err = x.Run(s.roots[0].plan)
	for _, r := range s.regions {
		_, failed := tail.New(empty{partSource{r, nil}.Has}, TailBytes, r.base).Run(r.base)
		err = errors.Join(err, failed)
	}
	if errors.Is(err, eval.ErrUnsupported) { // other errors are about values, and real rows may not cause them
		return shown(p.Text, err)
	}
	return nil
}

// checkRows refuses a statement if it is certain that too many rows would travel. It counts only tables whose rows all travel and are kept,
// and the least size that a row can have. Other statements fail while they run if there are too many rows (see keepRows).
func (s *statement) checkRows() error {
	const (
		position = 8 // bytes, the least that one takes
		doubt    = 2 // samples may overestimate the rows by this factor
	)
	bytes, tables := int64(0), []string{}
	for i := range s.roots {
		s.passesOn(&s.roots[i])
	}
	for _, l := range s.leaves {
		if l.unkept || l.keep != keepRows || slices.ContainsFunc(l.steps, leavesOut) {
			continue
		}
		width := int64(position)
		for _, n := range l.needed {
			if n {
				width++
			}
		}
		if rows := l.scan.table.Rows / doubt; rows > 0 {
			bytes += min(rows, mostRows) * width
			tables = append(tables, fmt.Sprintf("%s (about %d million rows)", l.scan.table.Name, l.scan.table.Rows>>20))
		}
	}
	if bytes <= MaxRowBytes {
		return nil
	}
	return fmt.Errorf("all rows of %s would travel to one process, %s at least, and at most %d MiB do: group the rows of each before they "+
		"are joined or ordered, narrow them by WHERE, or join with tables of which at most %d MiB are read",
		strings.Join(tables, " and "), about(bytes), MaxRowBytes>>20, MaxReference>>20)
}

// leavesOut reports whether a step may drop rows.
func leavesOut(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Filter:
		return true
	case *broadcast:
		return n.Kind != syntax.Left
	}
	return false
}

// shown adds to an error the place in the text that cannot be computed.
func shown(text string, err error) error {
	if e := (*eval.Unsupported)(nil); errors.As(err, &e) {
		return syntax.NewError(text, e.At, e.Error(), "")
	}
	return err
}

// empty is a source without rows.
type empty struct{ has func(n plan.Node) bool }

func (e empty) Has(n plan.Node) bool { return e.has(n) }

func (e empty) Read(plan.Node, func(*tail.Rows) error) error { return nil }
