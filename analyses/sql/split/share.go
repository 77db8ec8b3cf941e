package split

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/exec"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses"
	"posta.dev/posta/protocol"
)

// Statements that read the same table share its scan (Q3): one session computes their leaves. They must not affect each other,
// so a plan of several statements is refused if one of them would be computed differently than alone. If anything goes wrong in
// such a session, even an overflow in one statement, the session fails, and each statement is answered alone.
//
// Each statement is a party of the streams that it reads (analyses.Party): a row that one of them rejects or skips still counts
// for the others. If statements want different rows, a batch says for each row which statements do without it.

// MaxShared bounds how many statements one session answers.
const MaxShared = 32

// ErrApart is wrapped by the error for a plan of several statements that must be answered one by one.
var ErrApart = errors.New("the statements are to be answered apart")

// shares returns an error unless each statement of a session is computed as it would be alone. It also tells the scans what
// each statement would read alone.
func (s *statement) shares() error {
	waiting, most := int64(0), int64(0)
	for i := range s.roots {
		one := *s.of
		one.Roots = s.of.Roots[i : i+1]
		alone, err := one.split(false)
		if err != nil {
			return err
		}
		if l, _ := alone.head(); l != nil {
			return fmt.Errorf("%w: %s reads no more than it needs", ErrApart, s.roots[i].Name)
		}
		if a, b := alone.work(&alone.roots[0]), s.work(&s.roots[i]); a != b {
			return fmt.Errorf("%w: %s is computed in another way alone", ErrApart, s.roots[i].Name)
		}
		waiting, most = waiting+alone.waiting(), max(most, alone.waiting())
		for _, sc := range alone.Order {
			own := s.scanNamed(sc.Table)
			own.Alone = append(own.Alone, exec.Reading{Root: i, Scan: sc})
		}
	}
	if waiting > max(most, maxWaiting) {
		return fmt.Errorf("%w: about %d MiB would wait in the aggregators, and at most %d MiB do for several statements", ErrApart, waiting>>20,
			maxWaiting>>20)
	}
	for _, sc := range s.Order {
		if !s.Refs[sc.Of] && len(sc.Alone) < 2 {
			return fmt.Errorf("%w: only one of them reads %s", ErrApart, sc.Table.Name)
		}
		shareScan(sc)
	}
	return errors.Join(s.countApart(), s.rejectApart())
}

// waiting estimates how many bytes wait in the aggregators.
func (s *statement) waiting() (bytes int64) {
	for _, r := range s.Regions {
		for _, l := range r.Sources {
			bytes += s.Read(l.Scan.Of)
		}
	}
	return bytes
}

// share compares what the statements of a scan want of its rows. The parser keeps bounds only if all statements have them.
func shareScan(sc *exec.Scan) {
	first := sc.Alone[0].Scan
	sc.Within = first.Within
	for _, a := range sc.Alone[1:] {
		if describeBounds(a.Scan) != describeBounds(first) {
			sc.Apart, sc.Within = true, nil
		}
		sc.Apart = sc.Apart || !slices.Equal(a.Scan.Wanted, first.Wanted)
	}
}

// countApart checks the names under which rejected rows are counted.
func (s *statement) countApart() error {
	seen := map[string]bool{}
	for i, sc := range s.Order {
		for _, a := range sc.Alone {
			name := CountedFor(s.StreamName(i), s.roots[a.Root].Name)
			if seen[name] || len(name) > protocol.MaxName {
				return fmt.Errorf("%w: the rows that %s rejects of %s cannot be counted under a name of their own", ErrApart, s.roots[a.Root].Name,
					sc.Table.Name)
			}
			seen[name] = true
		}
	}
	if len(seen) > protocol.MaxStreams {
		return fmt.Errorf("%w: they count rejected rows under more than %d names", ErrApart, protocol.MaxStreams)
	}
	return nil
}

// CountedFor returns the name under which the rows of a stream are counted that one of several statements rejects.
func CountedFor(stream, statement string) string { return stream + " for " + statement }

// rejectApart determines for which statements leaves and scans of small tables are read. Statements that share such a part of
// a plan must reject the same rows.
func (s *statement) rejectApart() error {
	s.Missing = map[*plan.Scan]analyses.Missing{}
	for i := range s.roots {
		read := s.LeavesOf(s.roots[i].Plan)
		for _, l := range s.Leaves {
			if read[l] {
				if err := joinsPart(l.Scan, i, &l.Missing); err != nil {
					return err
				}
			}
		}
		var failed error
		plan.Nodes(s.roots[i].Plan, func(n plan.Node) {
			if of, ok := n.(*plan.Scan); ok && s.Refs[of.Table] {
				by := s.Missing[of]
				failed = errors.Join(failed, joinsPart(s.Scans[of.Table], i, &by))
				s.Missing[of] = by
			}
		})
		if failed != nil {
			return failed
		}
	}
	return nil
}

// joins adds a statement to those that read this part of the plan.
func joinsPart(sc *exec.Scan, root int, by *analyses.Missing) error {
	own := slices.IndexFunc(sc.Alone, func(a exec.Reading) bool { return a.Root == root })
	if own < 0 {
		return fmt.Errorf("%w: one of them reads %s only together with others", ErrApart, sc.Table.Name)
	}
	for k, a := range sc.Alone {
		if *by&(1<<k) != 0 && (!slices.Equal(a.Scan.Wanted, sc.Alone[own].Scan.Wanted) ||
			describeBounds(a.Scan) != describeBounds(sc.Alone[own].Scan)) {
			return fmt.Errorf("%w: two of them share a query over %s, and may reject different rows of it", ErrApart, sc.Table.Name)
		}
	}
	*by |= 1 << own
	return nil
}

func (s *statement) scanNamed(t *catalog.Table) *exec.Scan {
	i := slices.IndexFunc(s.Order, func(sc *exec.Scan) bool { return sc.Table.Name == t.Name && sc.Table.File == t.File })
	return s.Order[i]
}

// work describes what joiners and the reducer do for a statement.
func (s *statement) work(r *exec.Root) string {
	var b strings.Builder
	read := s.LeavesOf(r.Plan)
	for _, l := range s.Leaves {
		if read[l] {
			fmt.Fprintf(&b, "%s: %s; refs", l.Scan.Table.Name, describeLeaf(l))
			for i := range s.of.tables {
				fmt.Fprintf(&b, " %t", l.Refs[&s.of.tables[i]])
			}
			b.WriteByte('\n')
		}
	}
	for _, g := range s.Regions {
		if read[g.Leaf] {
			b.WriteString(describeRegion(g, func(*exec.Leaf) string { return "" }) + "\n") // alone, fewer columns are read, so less waits
		}
	}
	return b.String() + strings.Join(s.tailSteps(r.Plan), ",")
}

// bounds describes the bounds by which a parser skips rows.
func describeBounds(sc *exec.Scan) string {
	var b strings.Builder
	for _, i := range sc.Wanted {
		if w := sc.Within[i]; w != nil {
			fmt.Fprintf(&b, "%d %+v ", i, *w)
		}
	}
	return b.String()
}
