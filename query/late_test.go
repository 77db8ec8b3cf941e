package query_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/protocol"
	"posta.dev/posta/query"
)

// wide returns a Parquet file whose rows have many long columns, and each row's texts in the form of an answer.
func wide(t *testing.T, rows, from int) (file string, texts []string) {
	names, of := []string{"n"}, []types.Type{types.Of(types.BigInt)}
	for i := range 18 {
		names, of = append(names, fmt.Sprint("text", i)), append(of, types.Of(types.Text))
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, names, of)
	w.Group = 1 << 20
	for k := range rows {
		row := []any{int64((k*7919 + from) % 1000)}
		for i := range names[1:] {
			row = append(row, fmt.Sprintf("%d of %d", i, from+k))
		}
		values := make([]protocol.Value, len(row))
		for i, v := range row {
			var err error
			if values[i], err = protocol.ValueOf(v); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Row(values); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, fmt.Sprint(row))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), texts
}

// TestQuery_FirstRowsOfWideFiles: two passes give the rows that one would give, and say that there are two. If a file changes between them,
// or while the second reads it, there is no answer.
func TestQuery_FirstRowsOfWideFiles(t *testing.T) {
	a, rows := wide(t, 20000, 1)
	b, more := wide(t, 12000, 20001)
	rows = append(rows, more...)
	number := func(row string) (n int) { fmt.Sscanf(row, "[%d", &n); return n }
	slices.SortStableFunc(rows, func(x, y string) int { return number(x) - number(y) })
	var passes atomic.Int64
	db := open(t, map[string]string{"a.parquet": a, "b.parquet": b}, func(c *query.Config) {
		c.Watch.Notice = func(n query.Notice) {
			if n.Kind == query.Pass {
				passes.Add(1)
			}
		}
	})
	must(t, db, rows[3:13], "SELECT * FROM '*.parquet' ORDER BY n LIMIT 10 OFFSET 3")
	var kept []string
	for _, r := range rows {
		if strings.Contains(r, "0 of 77") {
			kept = append(kept, r)
		}
	}
	must(t, db, kept[:4], "SELECT * FROM '*.parquet' WHERE text0 LIKE '0 of 77%' ORDER BY n LIMIT 4")
	must(t, db, nil, "SELECT * FROM '*.parquet' WHERE text0 = 'none' ORDER BY n LIMIT 4")
	if passes.Load() != 6 {
		t.Errorf("%d passes", passes.Load())
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	cfg := query.Local(dir)
	cfg.Watch.Notice = func(n query.Notice) {
		if n.Kind == query.Pass && strings.HasPrefix(n.Text, "pass 2") {
			write(b)
		}
	}
	other, err := query.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}()
	c, _ := wide(t, 30000, 7)
	write(c)
	got, err := ask(t, other, "SELECT * FROM 'a.parquet' ORDER BY n LIMIT 10")
	if err == nil || !strings.Contains(err.Error(), "have changed") {
		t.Errorf("of a file that changes between passes: %q, %v", got, err)
	}
}
