package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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
	for i := range s.plan.Parts() {
		alone, err := s.plan.Alone(i).parsed(s.script, false)
		if err != nil {
			return err
		}
		if l, _ := alone.head(); l != nil {
			return fmt.Errorf("%w: %s reads no more than it needs", ErrApart, s.roots[i].name)
		}
		if a, b := alone.work(&alone.roots[0]), s.work(&s.roots[i]); a != b {
			return fmt.Errorf("%w: %s is computed in another way alone", ErrApart, s.roots[i].name)
		}
		waiting, most = waiting+alone.waiting(), max(most, alone.waiting())
		for _, sc := range alone.order {
			own := s.scanNamed(sc.table)
			own.alone = append(own.alone, reading{i, sc})
		}
	}
	if waiting > max(most, maxWaiting) {
		return fmt.Errorf("%w: about %d MiB would wait in the aggregators, and at most %d MiB do for several statements", ErrApart, waiting>>20,
			maxWaiting>>20)
	}
	for _, sc := range s.order {
		if !s.refs[sc.of] && len(sc.alone) < 2 {
			return fmt.Errorf("%w: only one of them reads %s", ErrApart, sc.table.Name)
		}
		sc.share()
	}
	return errors.Join(s.countApart(), s.rejectApart())
}

// waiting estimates how many bytes wait in the aggregators.
func (s *statement) waiting() (bytes int64) {
	for _, r := range s.regions {
		for _, l := range r.sources {
			bytes += s.Read(l.scan.of)
		}
	}
	return bytes
}

// share compares what the statements of a scan want of its rows. The parser keeps bounds only if all statements have them.
func (sc *scan) share() {
	first := sc.alone[0].scan
	sc.within = first.within
	for _, a := range sc.alone[1:] {
		if a.scan.bounds() != first.bounds() {
			sc.apart, sc.within = true, nil
		}
		sc.apart = sc.apart || !slices.Equal(a.scan.wanted, first.wanted)
	}
}

// countApart checks the names under which rejected rows are counted.
func (s *statement) countApart() error {
	seen := map[string]bool{}
	for i, sc := range s.order {
		for _, a := range sc.alone {
			name := CountedFor(s.streamName(i), s.roots[a.root].name)
			if seen[name] || len(name) > protocol.MaxName {
				return fmt.Errorf("%w: the rows that %s rejects of %s cannot be counted under a name of their own", ErrApart, s.roots[a.root].name,
					sc.table.Name)
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
	s.missing = map[*plan.Scan]analyses.Missing{}
	for i := range s.roots {
		read := s.leavesOf(s.roots[i].plan)
		for _, l := range s.leaves {
			if read[l] {
				if err := l.scan.joins(i, &l.missing); err != nil {
					return err
				}
			}
		}
		var failed error
		plan.Nodes(s.roots[i].plan, func(n plan.Node) {
			if of, ok := n.(*plan.Scan); ok && s.refs[of.Table] {
				by := s.missing[of]
				failed = errors.Join(failed, s.scans[of.Table].joins(i, &by))
				s.missing[of] = by
			}
		})
		if failed != nil {
			return failed
		}
	}
	return nil
}

// joins adds a statement to those that read this part of the plan.
func (sc *scan) joins(root int, by *analyses.Missing) error {
	own := slices.IndexFunc(sc.alone, func(a reading) bool { return a.root == root })
	if own < 0 {
		return fmt.Errorf("%w: one of them reads %s only together with others", ErrApart, sc.table.Name)
	}
	for k, a := range sc.alone {
		if *by&(1<<k) != 0 && (!slices.Equal(a.scan.wanted, sc.alone[own].scan.wanted) || a.scan.bounds() != sc.alone[own].scan.bounds()) {
			return fmt.Errorf("%w: two of them share a query over %s, and may reject different rows of it", ErrApart, sc.table.Name)
		}
	}
	*by |= 1 << own
	return nil
}

func (s *statement) scanNamed(t *Table) *scan {
	i := slices.IndexFunc(s.order, func(sc *scan) bool { return sc.table.Name == t.Name && sc.table.File == t.File })
	return s.order[i]
}

// work describes what joiners and the reducer do for a statement.
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
	for _, g := range s.regions {
		if read[g.leaf] {
			b.WriteString(g.describe(func(*leaf) string { return "" }) + "\n") // alone, fewer columns are read, so less waits
		}
	}
	return b.String() + strings.Join(s.tailSteps(r.plan), ",")
}

// bounds describes the bounds by which a parser skips rows.
func (sc *scan) bounds() string {
	var b strings.Builder
	for _, i := range sc.wanted {
		if w := sc.within[i]; w != nil {
			fmt.Fprintf(&b, "%d %+v ", i, *w)
		}
	}
	return b.String()
}
