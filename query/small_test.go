package query

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/client/source/parquet/generated"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/nodes/inprocess"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/corpus"
	"posta.dev/posta/wal/memory"
)

// openSmall returns a database whose statements are small, or not.
func openSmall(t *testing.T, dir string, limit int64) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{Data: dir, Small: limit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// rowsOf returns the rows of an answer, each as its values in brackets.
func rowsOf(t *testing.T, db *DB, text string) (all []string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	rows, err := db.Query(ctx, text)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values := make([]any, len(rows.Columns()))
		for i := range values {
			values[i] = rows.Value(i)
		}
		all = append(all, fmt.Sprintf("%q", values))
	}
	return all, errors.Join(rows.Err(), rows.Close())
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSmall_TheLimitDecides: the bytes that statements read decide which nodes answer, at both ends of the limit; of Parquet those of the
// columns that are needed, however large the file is.
func TestSmall_TheLimitDecides(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "t.csv"), "a\n1\n2\n") // 6 bytes
	write(t, filepath.Join(dir, "u.csv"), "a\n1\n")    // 4 bytes
	to, err := generated.In(generated.Parquet, gen.OnDisk(dir), "hits")
	if err != nil {
		t.Fatal(err)
	}
	if err := gen.Hits(to, 2000, 1); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text  string
		limit int64
		small bool
	}{
		{"SELECT sum(a) FROM t", 6, true},
		{"SELECT sum(a) FROM t", 5, false},
		{"SELECT sum(a) FROM t", -1, false},
		{"SELECT sum(a) FROM t", 0, true},
		{"SELECT sum(t.a) FROM t JOIN u ON t.a = u.a", 10, true},
		{"SELECT sum(t.a) FROM t JOIN u ON t.a = u.a", 9, false},
		{"SELECT count(*) FROM 'hits.parquet' WHERE CounterID > 0", 20_000, true}, // without a condition, the footer answers
		{"SELECT count(DISTINCT UserID) FROM 'hits.parquet'", 1, false},
		{"SELECT count(DISTINCT UserID) FROM 'hits.parquet'", 20_000, true},
		{"SELECT max(URL) FROM 'hits.parquet'", 20_000, false},
	} {
		db := openSmall(t, dir, c.limit)
		if _, err := rowsOf(t, db, c.text); err != nil || (db.small != nil) != c.small || (db.large != nil) == c.small {
			t.Errorf("%s, limit %d: one node %v, several %v, %v", c.text, c.limit, db.small != nil, db.large != nil, err)
		}
	}
}

// TestSmall_AnswersAsSeveralNodesDo asks one node a part of the corpus of statements.
func TestSmall_AnswersAsSeveralNodesDo(t *testing.T) {
	root := filepath.Join("..", "analyses", "sql", "testdata", "corpus")
	files, err := fs.Glob(os.DirFS(root), "*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	dbs, asked := map[string][2]*DB{}, 0
	for i, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		records, err := corpus.Parse(string(text))
		if err != nil {
			t.Fatal(err)
		}
		for k, r := range records {
			if (i+k)%16 > 0 || r.Refused || r.Tables == "-" {
				continue
			}
			dir := filepath.Join(root, r.Tables)
			tables, err := os.ReadFile(filepath.Join(dir, "tables.sql"))
			if err != nil {
				t.Fatal(err)
			}
			if dbs[dir][0] == nil {
				dbs[dir] = [2]*DB{openSmall(t, dir, 0), openSmall(t, dir, -1)}
			}
			statement := r.Text + ";\n" + string(tables)
			got, err := rowsOf(t, dbs[dir][0], statement)
			want, wantErr := rowsOf(t, dbs[dir][1], statement)
			if asked++; err != nil || wantErr != nil || !slices.Equal(got, want) || len(got) != len(r.Rows) {
				t.Errorf("%s:%d: %s\none node: %q, %v\nseveral: %q, %v", file, r.Line, r.Text, got, err, want, wantErr)
			}
		}
	}
	if asked < 20 {
		t.Errorf("%d statements were asked", asked)
	}
}

// TestSmall_SeveralAtOnce: one node answers questions that come at the same time, and one that is cancelled does not disturb the others.
func TestSmall_SeveralAtOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "t.csv"), "a\n"+strings.Repeat("1\n", 50_000))
	db := openSmall(t, dir, 0)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for range 5 {
				if i == 0 {
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					if _, err := db.Query(ctx, "SELECT sum(a) FROM t"); !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					continue
				}
				got, err := rowsOf(t, db, fmt.Sprintf("SELECT CAST(sum(a) + %d AS TEXT) FROM t", i))
				if err != nil || !slices.Equal(got, []string{fmt.Sprintf("[%q]", fmt.Sprint(50_000+i))}) {
					t.Error(i, got, err)
				}
			}
		})
	}
	all.Wait()
}

// TestSmall_CancelledWhileItReads: the session of a statement that is cancelled ends in the node, which answers the next one.
func TestSmall_CancelledWhileItReads(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "t.csv"), "a,b\n"+strings.Repeat("1,some text that is compared\n", 300_000))
	var once sync.Once
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("it was cancelled")
	db, err := Open(t.Context(), Config{Data: dir, Watch: Watch{Doing: func(string) { once.Do(func() { cancel(why) }) }}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Query(ctx, "SELECT b, count(*), sum(a) FROM t GROUP BY b"); err == nil || !errors.Is(err, why) {
		t.Error(err)
	}
	if got, err := rowsOf(t, db, "SELECT CAST(count(*) AS TEXT) FROM t"); err != nil || !slices.Equal(got, []string{`["300000"]`}) {
		t.Error(got, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestSmall_ALongValue: a value of 9 MiB is read and answered, and one that is longer than a message says so.
func TestSmall_ALongValue(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "t.csv"), "a\n"+strings.Repeat("x", 9<<20)+"\n")
	write(t, filepath.Join(dir, "u.csv"), "a\n"+strings.Repeat("x", 17<<20)+"\n")
	db := openSmall(t, dir, 0)
	whole, err := rowsOf(t, db, "SELECT a, length(a) FROM t")
	if err != nil || len(whole) != 1 || !strings.Contains(whole[0], strings.Repeat("x", 9<<20)) {
		t.Error(len(whole), err)
	}
	few := openSmall(t, dir, -1)
	got, err := rowsOf(t, db, "SELECT a FROM u")
	want, wantErr := rowsOf(t, few, "SELECT a FROM u")
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || len(got) != len(want) {
		t.Errorf("one node: %d rows, %v; several: %d rows, %v", len(got), err, len(want), wantErr)
	}
	if got, err := rowsOf(t, db, "SELECT length(a) FROM t"); err != nil || len(got) != 1 {
		t.Error("after a value that is too long: ", got, err)
	}
}

// TestSmall_AFullLogInMemory: a log that outgrows memory continues in a file. If there is no room either, the statement fails with a
// reason, and the same node answers once there is.
func TestSmall_AFullLogInMemory(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "key-%d,%d\n", i, i)
	}
	write(t, filepath.Join(dir, "t.csv"), "k,v\n"+b.String())
	db, full := openSmall(t, dir, 0), new(atomic.Bool)
	disk := memory.New(0, t.TempDir())
	var err error
	db.small, err = inprocess.Chain(inprocess.Config{Known: analyses.Set{split.New()}, Dirs: []string{dir}, Disk: scarceDisk{disk, full}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), disk.Close()); err != nil {
			t.Error(err)
		}
	})
	ask := func() ([]string, error) {
		return rowsOf(t, db, "SELECT k, sum(v) AS s FROM t GROUP BY k ORDER BY s DESC")
	}
	if got, err := ask(); err != nil || len(got) != 20_000 || !strings.Contains(got[0], "key-19999") {
		t.Fatal(len(got), err)
	}
	full.Store(true)
	if _, err := ask(); !errors.Is(err, ErrNoRoom) || !strings.Contains(err.Error(), filepath.Clean(os.TempDir())) {
		t.Error("without room: ", err)
	}
	full.Store(false)
	if got, err := ask(); err != nil || len(got) != 20_000 {
		t.Error("with room again: ", len(got), err)
	}
}

// TestSmall_RejectedRowsAreCounted: rows that cannot be read are told as several nodes tell them.
func TestSmall_RejectedRowsAreCounted(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "t.csv"), "a,b\n1,2\n3\n4,5\n")
	for _, limit := range []int64{0, -1} {
		db := openSmall(t, dir, limit)
		s, err := db.Prepare(t.Context(), "SELECT sum(a + b) FROM t")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.Run(t.Context())
		if err != nil || len(answer.Rejected) != 1 || answer.Rejected[0].Rows != 1 || len(answer.Rejected[0].First) != 1 {
			t.Errorf("limit %d: %+v, %v", limit, answer, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := rowsOf(t, db, "SELECT a / (a - 1) FROM t WHERE no_such(a)"); err == nil || errors.Is(err, protocol.ErrFailed) {
			t.Error(err)
		}
	}
}
