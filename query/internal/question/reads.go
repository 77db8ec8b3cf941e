package question

import (
	"context"
	"slices"
	"strings"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/client/source/format"
)

// columnBytes is how many bytes the values of a column have in a file that says so.
type columnBytes struct {
	name  string
	bytes int64
}

// tableReads is what statements read of a table.
type tableReads struct {
	columns []string // in lower case
	some    int64    // sum of what each statement by itself reads, as the files say
	whole   bool     // a statement reads all rows, as far as the files say
}

// Reads estimates how many bytes the statements read, all together. known is false if a table is read whose size nobody knows, such as a
// pipe. Tables of Parquet count with the columns and row groups that are read, all others with their files.
func (q *Question) Reads(ctx context.Context) (bytes int64, known bool) {
	needed := map[string]*tableReads{} // by the files of a table
	for i := range q.Statements() {
		if kind, err := q.Kind(i); err != nil || kind != OverTables {
			continue
		}
		plan := q.Plan(i)
		if next := q.First(i).Next; next.Pass == split.Late { // the pass behind it reads few rows
			plan = next
		}
		a, err := split.Analysis(plan)
		if err != nil {
			return 0, false
		}
		for _, s := range a.Streams {
			of := needed[s.Files]
			if of == nil {
				of = &tableReads{columns: []string{""}}
				needed[s.Files] = of
			}
			for _, c := range s.Columns {
				of.columns = append(of.columns, strings.ToLower(c.Name))
			}
			share, ok := q.foresee(ctx, &s)
			of.some += share.Bytes
			of.whole = of.whole || !ok
		}
	}
	for _, t := range q.tables {
		of := needed[t.Files]
		switch {
		case of == nil:
		case t.estimate == 0:
			return 0, false
		case t.typedOnly:
			bytes += t.bytesRead(of)
		default:
			bytes += t.estimate
		}
	}
	return bytes, true
}

// bytesRead returns how many bytes are read of a table of typed files.
func (t *table) bytesRead(of *tableReads) (bytes int64) {
	for _, c := range t.typedBytes {
		if slices.Contains(of.columns, strings.ToLower(c.name)) {
			bytes += c.bytes
		}
	}
	if of.whole {
		return bytes
	}
	return min(bytes, of.some)
}

// foresee returns what the files of a stream say that is read of them. ok is false if they say nothing of it, or if WHERE excludes nothing
// that they know of.
func (q *Question) foresee(ctx context.Context, s *analyses.Stream) (share format.Share, ok bool) {
	at := slices.IndexFunc(q.tables, func(t *table) bool { return t.Files == s.Files })
	if at < 0 || !q.tables[at].typedOnly || s.Skips == nil && len(s.Tests) == 0 {
		return share, false
	}
	share, ok, err := q.cfg.Input.Foresee(ctx, q.tables[at].stream(), &format.Want{Columns: s.Columns, Skips: s.Skips, Tests: s.Tests})
	return share, ok && err == nil
}
