package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/types"
)

// Statements that read the same table share its scan (Q3): their leaves belong to one session. They must not affect each other,
// so a plan of several statements is refused if one of them would be computed differently than alone. If anything goes wrong in
// such a session, even an overflow in one statement, the session fails, and each statement is answered alone.

// MaxShared is how many statements one session answers at most.
const MaxShared = 32

// ErrApart is wrapped by the error for a plan of several statements that should be answered one by one.
var ErrApart = errors.New("the statements are to be answered apart")

// shares returns an error unless the statements of a session are computed as they would be alone. It also tells the scans what
// parsers need to know for that.
func (s *statement) shares() error {
	first := map[string]string{} // by table, what a statement wants of its rows
	readers := map[string]int{}
	for i, index := range append([]int{s.plan.Statement}, s.plan.Also...) {
		p := *s.plan
		p.Statement, p.Also = index, nil
		alone, err := p.statement()
		if err != nil {
			return err
		}
		if l, _ := alone.head(); l != nil {
			return fmt.Errorf("%w: %s reads no more than it needs", ErrApart, s.roots[i].name)
		}
		if a, b := alone.work(&alone.roots[0]), s.work(&s.roots[i]); a != b {
			return fmt.Errorf("%w: %s is computed in another way alone", ErrApart, s.roots[i].name)
		}
		for _, sc := range alone.order {
			name, wants := sc.table.Name, sc.wants()
			readers[name]++
			s.scanNamed(sc.table).alone = append(s.scanNamed(sc.table).alone, sc)
			if was, known := first[name]; !known {
				first[name], s.scanNamed(sc.table).within = wants, sc.within
			} else if was != wants {
				s.scanNamed(sc.table).apart = true
			}
		}
	}
	for _, sc := range s.order {
		if sc.apart {
			sc.within = nil
		}
		if !s.refs[sc.of] && readers[sc.table.Name] < 2 {
			return fmt.Errorf("%w: only one of them reads %s", ErrApart, sc.table.Name)
		}
	}
	return nil
}

func (s *statement) scanNamed(t *Table) *scan {
	i := slices.IndexFunc(s.order, func(sc *scan) bool { return sc.table.Name == t.Name && sc.table.File == t.File })
	return s.order[i]
}

// work says what joiners and the reducer do for a statement.
func (s *statement) work(r *root) string {
	var b strings.Builder
	read := s.leavesOf(r.plan)
	for _, l := range s.leaves {
		if read[l] {
			fmt.Fprintf(&b, "%s: %s; refs", l.scan.table.Name, l.describe())
			for i := range s.tables {
				fmt.Fprintf(&b, " %t", l.refs[&s.tables[i]])
			}
			b.WriteByte('\n')
		}
	}
	return b.String() + strings.Join(s.tailSteps(r.plan), ",")
}

// wants describes what makes parsers reject or skip a row: bounds, and columns that may hold values of a wrong type.
func (sc *scan) wants() string {
	var b strings.Builder
	for _, i := range sc.wanted {
		if sc.table.Columns[i].Type.Kind != types.Text {
			fmt.Fprintf(&b, "%d ", i)
		}
		if w := sc.within[i]; w != nil {
			fmt.Fprintf(&b, "within %d %+v ", i, *w)
		}
	}
	return b.String()
}
