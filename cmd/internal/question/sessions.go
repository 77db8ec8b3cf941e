package question

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/compile"
	"posta.dev/posta/protocol"
)

// Sessions divides the statements that read tables into sessions. Statements that share a scan share a session, unless that would change how one of
// them is computed (Q3). Each statement is in exactly one session, and the statements of a session are in order.
func (q *Question) Sessions() (sessions [][]int) {
	byFacts := map[string]int{}
	var sets [][]int
	for i := range q.Statements() {
		if kind, err := q.Kind(i); err != nil || kind != OverTables {
			continue
		}
		facts := q.shareable(i)
		at, known := byFacts[facts]
		if facts == "" || !known {
			at = len(sets)
			sets = append(sets, nil)
		}
		if facts != "" {
			byFacts[facts] = at
		}
		if sets[at] = append(sets[at], i); len(sets[at]) == compile.MaxShared {
			delete(byFacts, facts)
		}
	}
	for _, set := range sets {
		sessions = append(sessions, q.together(set)...)
	}
	slices.SortFunc(sessions, func(a, b []int) int { return a[0] - b[0] })
	return sessions
}

// shareable returns the names of the large tables that a statement reads; "" if the statement should have its own session.
func (q *Question) shareable(statement int) string {
	p := q.plan(statement)
	if _, _, ok := q.head(p); ok || p.NextPass() != nil {
		return ""
	}
	a, err := compile.Analysis(p)
	if err != nil {
		return ""
	}
	var names []string
	for _, s := range a.Streams {
		if !s.Reference {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\x00")
}

// together divides statements into sessions that a plan can hold.
func (q *Question) together(set []int) [][]int {
	if len(set) == 1 {
		return [][]int{set}
	}
	if p := q.PlanOf(set); len(p.Encode()) <= compile.MaxPlan {
		if _, err := compile.Analysis(p); err == nil {
			return [][]int{set}
		}
	}
	half := len(set) / 2
	return append(q.together(set[:half]), q.together(set[half:])...)
}

// PlanOf returns the plan of a session that answers several statements.
func (q *Question) PlanOf(statements []int) *compile.Plan {
	p := q.plan(statements[0])
	p.Also = statements[1:]
	return p
}

// heads is how many bytes of a table the first try and further tries read, if a statement needs only its first rows. After the last of these tries the whole
// table is read.
var heads = []int64{4 << 20, 64 << 20, 1 << 30}

// Heads returns the stream whose beginning is enough, and how many bytes of it each try reads, until there are so many rows. It returns no bytes if
// all of the stream is to be read at once.
func (q *Question) Heads(p *compile.Plan) (stream string, bytes []int64, rows int) {
	stream, rows, ok := q.head(p)
	if !ok {
		return "", nil, 0
	}
	for _, h := range heads {
		if h < q.size(stream)/2 {
			bytes = append(bytes, h)
		}
	}
	return stream, bytes, rows
}

func (q *Question) head(p *compile.Plan) (stream string, rows int, ok bool) {
	if stream, rows, ok = p.Head(); ok {
		ok = q.size(stream)/2 > heads[0]
	}
	return stream, rows, ok
}

// size returns how many bytes a table has; 0 if that is not known. Such a table may be a pipe, which can be read only once.
func (q *Question) size(stream string) (bytes int64) {
	for _, t := range q.tables {
		if t.Name == stream {
			bytes = max(bytes, t.estimate)
		}
	}
	return bytes
}

// ErrOtherFiles is wrapped by the error for files that changed between two sessions of a question.
var ErrOtherFiles = errors.New("the files have changed since they were read first")

// Stamp notes the state of the files of all tables, so that SameFiles can compare it later. It copies a file to the disk if the file can be read only once
// and several sessions or passes read it.
func (q *Question) Stamp(ctx context.Context, sessions [][]int) error {
	for _, t := range q.tables {
		stamps, err := q.cfg.Input.Stamps(ctx, t.stream())
		if err == nil && stamps == nil && q.readAgain(t, sessions) {
			if err = q.cfg.Input.Spool(ctx, t.stream()); err == nil {
				stamps, err = q.cfg.Input.Stamps(ctx, t.stream())
			}
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		t.stamps, t.once = stamps, stamps == nil
	}
	return nil
}

// readAgain reports whether sessions or passes read a table more than once.
func (q *Question) readAgain(t *table, sessions [][]int) bool {
	reads := 0
	for _, statements := range sessions {
		p := q.PlanOf(statements)
		a, err := compile.Analysis(p)
		if err != nil || !slices.ContainsFunc(a.Streams, func(s analyses.Stream) bool { return s.Files == t.Files }) {
			continue
		}
		if reads++; reads > 1 || p.NextPass() != nil {
			return true
		}
	}
	return false
}

// Once returns a table whose files can be read only once; "" if there is none.
func (q *Question) Once() string {
	for _, t := range q.tables {
		if t.once {
			return t.Name
		}
	}
	return ""
}

// SameFiles returns an error unless all tables still have the files that Stamp saw: the same by name, size, time and inode.
func (q *Question) SameFiles(ctx context.Context) error {
	for _, t := range q.tables {
		now, err := q.cfg.Input.Stamps(ctx, t.stream())
		if err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
		if maps.Equal(now, t.stamps) {
			continue
		}
		for _, path := range slices.Sorted(maps.Keys(union(now, t.stamps))) {
			if now[path] != t.stamps[path] {
				return fmt.Errorf("table %s: %w: %s; ask again when nothing writes to them", t.Name, ErrOtherFiles, path)
			}
		}
	}
	return nil
}

func union(a, b map[string]protocol.Stamp) map[string]protocol.Stamp {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]protocol.Stamp{}
	}
	maps.Copy(all, b)
	return all
}
