package question

import (
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/split"
)

// columnBytes is how many bytes the values of a column have in a file that says so.
type columnBytes struct {
	name  string
	bytes int64
}

// Reads estimates how many bytes the statements read, all together. known is false if a table is read whose size nobody knows, such as a
// pipe. Tables of Parquet count with the columns that are read, all others with their files.
func (q *Question) Reads() (bytes int64, known bool) {
	needed := map[string][]string{} // by the files of a table, in lower case
	for i := range q.Statements() {
		if kind, err := q.Kind(i); err != nil || kind != OverTables {
			continue
		}
		a, err := split.Analysis(q.Plan(i))
		if err != nil {
			return 0, false
		}
		for _, s := range a.Streams {
			columns := append(needed[s.Files], "")
			for _, c := range s.Columns {
				columns = append(columns, strings.ToLower(c.Name))
			}
			needed[s.Files] = columns
		}
	}
	for _, t := range q.tables {
		columns, read := needed[t.Files]
		switch {
		case !read:
		case t.estimate == 0:
			return 0, false
		case t.typedOnly:
			for _, c := range t.typedBytes {
				if slices.Contains(columns, strings.ToLower(c.name)) {
					bytes += c.bytes
				}
			}
		default:
			bytes += t.estimate
		}
	}
	return bytes, true
}
