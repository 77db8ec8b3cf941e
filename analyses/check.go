package analyses

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// ErrBadAnalysis is wrapped by the errors of [Analysis.Check].
var ErrBadAnalysis = errors.New("bad analysis")

// Check reports whether the parts of an analysis fit together. So the author learns of a mistake when the program starts, and
// not from a session that never ends.
func (a *Analysis) Check() error {
	if a.Compile != nil {
		if a.Name == "" || len(a.Streams)+len(a.Tables)+len(a.Queries)+len(a.Params) > 0 {
			return fmt.Errorf("%w: %q is compiled from plans, so it has a name and nothing else", ErrBadAnalysis, a.Name)
		}
		return nil
	}
	if a.Name == "" || a.NewJoiner == nil || a.Reduce == nil && slices.ContainsFunc(a.Queries, func(q Query) bool { return q.Rows == nil }) {
		return fmt.Errorf("%w: %q lacks a name or one of NewJoiner, Reduce", ErrBadAnalysis, a.Name)
	}
	if _, err := a.Args(nil); err != nil {
		return fmt.Errorf("%w: %s: its defaults: %w", ErrBadAnalysis, a.Name, err)
	}
	if err := errors.Join(a.checkStreams(), a.checkParties(), a.checkTables(), a.checkQueries()); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrBadAnalysis, a.Name, err)
	}
	return nil
}

func (a *Analysis) checkStreams() error {
	facts := false
	for i, s := range a.Streams {
		if a.StreamIndex(s.Name) != i || s.Name == "" || s.Files == "" || len(s.Columns) == 0 {
			return fmt.Errorf("stream %d (%q) needs a name of its own, files and columns", i, s.Name)
		}
		if s.Reference && facts {
			return fmt.Errorf("reference stream %s comes after a fact stream", s.Name)
		}
		facts = facts || !s.Reference
		if err := batch.CheckSpec(s.Schema); err != nil {
			return fmt.Errorf("stream %s: %w", s.Name, err)
		}
		if a.NewParser == nil && len(s.Columns) != len(s.Schema) {
			return fmt.Errorf("stream %s: without a NewParser each column is one of the schema, but there are %d and %d", s.Name,
				len(s.Columns), len(s.Schema))
		}
	}
	return nil
}

func (a *Analysis) checkParties() error {
	seen := map[string]bool{}
	for i := range a.Streams {
		s := &a.Streams[i]
		if len(s.Parties) > MaxParties || len(s.Parties) > 0 && a.NewParser == nil {
			return fmt.Errorf("stream %s has %d parties; a stream with a NewParser may have up to %d", s.Name, len(s.Parties), MaxParties)
		}
		for _, name := range s.Counts() {
			if seen[name] {
				return fmt.Errorf("rejected rows are counted as %q twice; give each party a name of its own", name)
			}
			seen[name] = true
		}
		for _, p := range s.Parties {
			if p.NewParser == nil {
				return fmt.Errorf("party %q of stream %s has no parser", p.Name, s.Name)
			}
		}
	}
	return nil
}

func (a *Analysis) checkTables() error {
	for i := range a.Tables {
		t := &a.Tables[i]
		if err := t.Check(); err != nil {
			return err
		}
		if a.TableIndex(t.Name) != i || t.Name == RejectedSpec.Name {
			return fmt.Errorf("table %d needs another name than %q", i, t.Name)
		}
		if a.StreamIndex(t.Stream) < 0 {
			return fmt.Errorf("table %s waits for stream %q, which does not exist", t.Name, t.Stream)
		}
		if err := a.checkMade(i); err != nil {
			return err
		}
		if t.Merge == fold.Never && t.PartitionBy > 0 && !a.Stays(i) {
			return fmt.Errorf("table %s is a bag that is spread by keys, and no table is made of it", t.Name)
		}
	}
	return nil
}

// checkMade checks the sources of a table that aggregators make.
func (a *Analysis) checkMade(i int) error {
	t := &a.Tables[i]
	if len(t.From) > 0 && a.Finish == nil {
		return fmt.Errorf("table %s is made of others, and there is no Finish that makes it", t.Name)
	}
	for k, from := range a.MadeOf(i) {
		switch {
		case from < 0:
			return fmt.Errorf("table %s is made of %q, which there is not; there is %s", t.Name, t.From[k], a.tableNames())
		case len(a.Tables[from].From) > 0:
			return fmt.Errorf("table %s is made of %s, which is itself made of others", t.Name, t.From[k])
		case a.Tables[from].Merge == fold.Never && a.Tables[from].PartitionBy == 0:
			return fmt.Errorf("table %s is made of the bag %s, which no keys spread: set its PartitionBy", t.Name, t.From[k])
		}
	}
	return nil
}

func (a *Analysis) checkQueries() error {
	seen := map[string]bool{}
	for _, q := range a.Queries {
		if q.Name == "" || seen[q.Name] || len(q.Columns) == 0 {
			return fmt.Errorf("query %q needs a name of its own and columns", q.Name)
		}
		seen[q.Name] = true
		for _, t := range q.Tables {
			if a.TableIndex(t) < 0 {
				return fmt.Errorf("query %s needs table %q, which does not exist; the tables are %s", q.Name, t, a.tableNames())
			}
			if a.Stays(a.TableIndex(t)) {
				return fmt.Errorf("query %s needs table %s, which stays in the aggregators: let it need what is made of it", q.Name, t)
			}
		}
		if err := a.checkRows(&q); err != nil {
			return err
		}
		if q.Download != "" && !slices.Contains(q.Columns, q.Download) {
			return fmt.Errorf("query %s downloads from column %q, which it does not have", q.Name, q.Download)
		}
	}
	return nil
}

// checkRows checks a query with Rows. No other query may use its table: the rows bypass the reducer and are kept nowhere.
func (a *Analysis) checkRows(q *Query) error {
	if q.Rows == nil {
		return nil
	}
	shown := map[int]int{}
	for _, o := range q.Order {
		shown[max(o.Column, -1)]++
	}
	for i, c := range q.Columns {
		if len(q.Order) > 0 && (shown[i] != 1 || len(q.Order)-shown[-1] != len(q.Columns)) {
			return fmt.Errorf("query %s shows column %s in %d values of its Order; show each column in one", q.Name, c, shown[i])
		}
	}
	if len(q.Tables) != 1 {
		return fmt.Errorf("query %s has Rows, and is computed from %d tables; give it one", q.Name, len(q.Tables))
	}
	if t := a.TableIndex(q.Tables[0]); len(a.Tables[t].From) > 0 && a.Tables[t].Merge != fold.Never {
		return fmt.Errorf(
			"query %s has Rows, and aggregators make its table %s of others, so that a key may be in several of them; make it a bag", q.Name,
			q.Tables[0])
	}
	for i := range a.Queries {
		if o := &a.Queries[i]; o.Name != q.Name && slices.Contains(o.Tables, q.Tables[0]) {
			return fmt.Errorf("query %s has Rows, and its table %s serves query %s, too; give each a table", q.Name, q.Tables[0], o.Name)
		}
	}
	return nil
}

func (a *Analysis) tableNames() string {
	names := make([]string, len(a.Tables))
	for i, t := range a.Tables {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}
