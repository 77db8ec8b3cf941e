package query_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/query"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dataOf writes files into a directory of their own.
func dataOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const trips = "id,city,km,started\n1,Montreal,2.25,2024-02-28 08:00:00\n2,Toronto,9.75,2024-02-29 09:30:00.5\n3,Montreal,4,2024-03-01 10:00:00\n"

// open returns a database over files, on nodes in this process.
func open(t testing.TB, files map[string]string, change func(*query.Config)) *query.DB {
	t.Helper()
	cfg := query.Local(dataOf(t, files))
	if change != nil {
		change(&cfg)
	}
	db, err := query.Open(t.Context(), cfg)
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

func TestQuery_AnswersAndScans(t *testing.T) {
	db := open(t, map[string]string{"trips.csv": trips}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rows, err := db.Query(ctx, "SELECT city, count(*) AS n, max(km) AS far, max(started) AS last FROM trips WHERE km > $1 GROUP BY city ORDER BY city", 2.0)
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		city string
		n    int
		far  float64
		last time.Time
	}
	var got []line
	for rows.Next() {
		var l line
		if err := rows.Scan(&l.city, &l.n, &l.far, &l.last); err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	want := []line{{"Montreal", 2, 4, time.Date(2024, 3, 1, 10, 0, 0, 0, time.UTC)},
		{"Toronto", 1, 9.75, time.Date(2024, 2, 29, 9, 30, 0, 5e8, time.UTC)}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, want %v", got, want)
	}
}
