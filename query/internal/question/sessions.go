package question

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/protocol"
)

// Step is what one session computes of a statement: a pass, or the answer.
type Step struct {
	Statement int
	Plan      *split.Plan // of the statement, with the answers of the passes that have run
	Next      *split.Plan // what is computed: a pass of Plan, or Plan itself
	Passed    int         // how many passes have run
}

// Last reports whether the step computes the answer.
func (s *Step) Last() bool { return s.Next == s.Plan }

// First returns the first step of a statement.
func (q *Question) First(statement int) *Step { return stepOf(statement, q.Plan(statement), 0) }

func stepOf(statement int, plan *split.Plan, passed int) *Step {
	s := &Step{statement, plan, plan.NextPass(), passed}
	if s.Next == nil {
		s.Next = plan
	}
	return s
}

// After returns the step after a pass, whose answer has the given rows. If the answer is larger than a plan may be, fits is false,
// and the next step computes the statement without it.
func (s *Step) After(rows []string) (next *Step, fits bool, err error) {
	plan, err := s.Plan.Answered(s.Next, rows)
	if err != nil {
		return nil, false, err
	}
	encoded, err := plan.Encode()
	if err != nil {
		return nil, false, err
	}
	if len(encoded) > split.MaxPlan {
		return &Step{s.Statement, s.Plan, s.Plan, s.Passed + 1}, false, nil
	}
	return stepOf(s.Statement, plan, s.Passed+1), true, nil
}

// Renewed returns the step, or the first step of its statement if the tables have changed since the step was made (Mend): the answers of
// its passes were computed from other columns.
func (q *Question) Renewed(s *Step) *Step {
	if split.Together([]*split.Plan{q.Plan(s.Statement), s.Plan}) != nil {
		return s
	}
	return q.First(s.Statement)
}

// Firsts returns the first steps of all statements that read tables.
func (q *Question) Firsts() (steps []*Step) {
	for i := range q.Statements() {
		if kind, err := q.Kind(i); err == nil && kind == OverTables {
			steps = append(steps, q.First(i))
		}
	}
	return steps
}

// Sessions divides steps of different statements into sessions. Steps that share a scan share a session, unless that would change how one
// of them is computed (Q3). Each step is in exactly one session, and the steps of a session are in order.
func (q *Question) Sessions(steps []*Step) (sessions [][]*Step) {
	byFacts := map[string]int{}
	var sets [][]*Step
	for _, s := range steps {
		facts := ""
		if len(steps) > 1 {
			facts = q.shareable(s)
		}
		at, known := byFacts[facts]
		if facts == "" || !known {
			at = len(sets)
			sets = append(sets, nil)
		}
		if facts != "" {
			byFacts[facts] = at
		}
		if sets[at] = append(sets[at], s); len(sets[at]) == split.MaxShared {
			delete(byFacts, facts)
		}
	}
	for _, set := range sets {
		sessions = append(sessions, together(set)...)
	}
	slices.SortFunc(sessions, func(a, b []*Step) int { return a[0].Statement - b[0].Statement })
	return sessions
}

// shareable returns the names of the large tables that a step reads; "" if the step should have its own session.
func (q *Question) shareable(s *Step) string {
	if _, _, ok := q.head(s.Next); ok {
		return ""
	}
	a, err := split.Analysis(s.Next)
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

// together divides steps into sessions that a plan can hold.
func together(set []*Step) [][]*Step {
	if len(set) == 1 {
		return [][]*Step{set}
	}
	if p := PlanOf(set); p != nil {
		if _, err := split.Analysis(p); err == nil {
			return [][]*Step{set}
		}
	}
	half := len(set) / 2
	return append(together(set[:half]), together(set[half:])...)
}

// PlanOf returns the plan of a session that computes several steps; nil if no session can, because some were made before a change of the
// tables, and some after it (Renewed).
func PlanOf(steps []*Step) *split.Plan {
	plans := make([]*split.Plan, len(steps))
	for i, s := range steps {
		plans[i] = s.Next
	}
	return split.Together(plans)
}

// heads is how many bytes of a table the first try and further tries read, if a statement needs only its first rows. After the last of
// these tries the whole table is read.
var heads = []int64{4 << 20, 64 << 20, 1 << 30}

// Heads returns the stream whose beginning is enough, and how many bytes of it each try reads, until there are so many rows. It returns no
// bytes if all of the stream is to be read at once.
func (q *Question) Heads(p *split.Plan) (stream string, bytes []int64, rows int) {
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

func (q *Question) head(p *split.Plan) (stream string, rows int, ok bool) {
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

// Stamp notes the state of the files of all tables, so that SameFiles can compare it later. It copies a file to the disk if the file can be
// read only once and several sessions or passes read it.
func (q *Question) Stamp(ctx context.Context, sessions [][]*Step) error {
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
func (q *Question) readAgain(t *table, sessions [][]*Step) bool {
	reads := 0
	for _, steps := range sessions {
		for _, s := range steps {
			if !s.Last() && readsTable(s.Plan, t) {
				return true // a later session reads it for the same statement
			}
		}
		if readsTable(PlanOf(steps), t) {
			if reads++; reads > 1 {
				return true
			}
		}
	}
	return false
}

// readsTable reports whether the session of a plan reads a table.
func readsTable(p *split.Plan, t *table) bool {
	a, err := split.Analysis(p)
	return err == nil && slices.ContainsFunc(a.Streams, func(s analyses.Stream) bool { return s.Files == t.Files })
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

// Stamps returns what Stamp noted, by table and path.
func (q *Question) Stamps() map[string]map[string]protocol.Stamp {
	all := map[string]map[string]protocol.Stamp{}
	for _, t := range q.tables {
		all[t.Name] = t.stamps
	}
	return all
}

// ReadByOthers returns an error unless another process could read all files again, and see whether they have changed.
func (q *Question) ReadByOthers(ctx context.Context) error {
	for _, t := range q.tables {
		if err := q.cfg.Input.Regular(ctx, t.stream()); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return nil
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
