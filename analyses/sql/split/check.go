package split

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
)

// Check finds what the engine cannot do yet, before anything is started. For this it runs the tail over no rows. Nodes do not
// call it, because a malicious plan could make that take long. rows has the least number of rows that each table may have; nil:
// that of samples.
func Check(p *Plan, rows []int64) error {
	s, err := p.statement()
	if err != nil {
		return err
	}
	if _, err := s.analysis(); err != nil {
		return exec.Shown(p.Text, err)
	}
	if p.NextPass() == nil {
		if err := s.checkRows(rows); err != nil {
			return err
		}
	}
	x := operators.New(empty{func(n plan.Node) bool { return s.ByNode[n] != nil }}, exec.TailBytes, s.roots[0].Plan)
	_, err = x.Run(s.roots[0].Plan)
	for _, r := range s.Regions {
		_, failed := operators.New(empty{exec.PartSource{R: r, Tables: nil}.Has}, exec.TailBytes, r.Base).Run(r.Base)
		err = errors.Join(err, failed)
	}
	if errors.Is(err, eval.ErrUnsupported) { // other errors are about values, and real rows may not cause them
		return exec.Shown(p.Text, err)
	}
	return nil
}

// checkRows refuses a statement if it is certain that too many rows would travel. It counts only tables whose rows all travel and are kept,
// and the least size that a row can have. Other statements fail while they run if there are too many rows (see keepRows).
func (s *statement) checkRows(known []int64) error {
	const (
		position = 8 // bytes, the least that one takes
		doubt    = 2 // samples may overestimate the rows by this factor
	)
	bytes, tables := int64(0), []string{}
	for i := range s.roots {
		s.passesOn(&s.roots[i])
	}
	for _, l := range s.Leaves {
		if l.Unkept || l.Keep != exec.KeepRows || slices.ContainsFunc(l.Steps, leavesOut) {
			continue
		}
		width := int64(position)
		for _, n := range l.Needed {
			if n {
				width++
			}
		}
		rows := l.Scan.Table.Rows
		if known != nil {
			rows = known[s.place(l.Scan.Of)]
		}
		if rows/doubt > 0 {
			bytes += min(rows/doubt, mostRows) * width
			tables = append(tables, fmt.Sprintf("%s (about %d million rows)", l.Scan.Table.Name, rows>>20))
		}
	}
	if bytes <= exec.MaxRowBytes {
		return nil
	}
	return fmt.Errorf("all rows of %s would travel to one process, %s at least, and at most %d MiB do: group the rows of each before they "+
		"are joined or ordered, narrow them by WHERE, or join with tables of which at most %d MiB are read",
		strings.Join(tables, " and "), exec.About(bytes), exec.MaxRowBytes>>20, MaxReference>>20)
}

// leavesOut reports whether a step may drop rows.
func leavesOut(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Filter:
		return true
	case *exec.Broadcast:
		return n.Kind != syntax.Left
	}
	return false
}

// empty is a source without rows.
type empty struct{ has func(n plan.Node) bool }

func (e empty) Has(n plan.Node) bool { return e.has(n) }

func (e empty) Read(plan.Node, func(*operators.Batch) error) error { return nil }
