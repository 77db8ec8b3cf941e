package driver_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/query"
	"posta.dev/posta/query/driver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const trips = "id,city,km,started\n1,Montreal,2.25,2024-02-28 08:00:00\n2,Toronto,9.75,2024-02-29 09:30:00.5\n3,,4,\n"

func open(t *testing.T) *sql.DB {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "trips.csv"), []byte(trips), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(driver.Name, dir)
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

func TestDriver_ScansWhatTheTypesSay(t *testing.T) {
	db := open(t)
	rows, err := db.Query("SELECT id, city, km, started, CAST(km AS DECIMAL(10, 2)) AS exact, id > ? AS late, DATE '2024-02-29' AS day "+
		"FROM trips "+
		"WHERE id >= :least ORDER BY id", 2, sql.Named("least", 2))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	kinds, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name()+" "+k.DatabaseTypeName()+" "+k.ScanType().String())
	}
	want := []string{"id BIGINT int64", "city TEXT string", "km DOUBLE float64", "started TIMESTAMP time.Time", "exact DECIMAL string",
		"late BOOLEAN bool", "day DATE time.Time"}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("columns %q, want %q", names, want)
	}
	type row struct {
		id      int
		city    sql.NullString
		km      float64
		started sql.NullTime
		exact   string
		late    bool
		day     time.Time
	}
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	all := []row{
		{2, sql.NullString{String: "Toronto", Valid: true}, 9.75, sql.NullTime{Time: day.Add(9*time.Hour + 30*time.Minute + time.Second/2),
			Valid: true},
			"9.75", false, day},
		{3, sql.NullString{}, 4, sql.NullTime{}, "4.00", true, day},
	}
	for i := 0; rows.Next(); i++ {
		var r row
		if err := rows.Scan(&r.id, &r.city, &r.km, &r.started, &r.exact, &r.late, &r.day); err != nil {
			t.Fatal(err)
		}
		if i >= len(all) || r != all[i] {
			t.Errorf("row %d: %v", i, r)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestDriver_SeveralStatementsHaveSeveralSets(t *testing.T) {
	db := open(t)
	rows, err := db.Query("SELECT count(*) FROM trips; SELECT city FROM trips WHERE id = 1; SHOW TABLES")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var got []string
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			var s string
			if err := rows.Scan(&s); err != nil {
				t.Fatal(err)
			}
			got = append(got, s)
		}
	}
	if want := []string{"3", "Montreal", "trips"}; !reflect.DeepEqual(got, want) || rows.Err() != nil {
		t.Errorf("got %q and %v, want %q", got, rows.Err(), want)
	}
}

func TestDriver_RefusesWhatItCannotDo(t *testing.T) {
	db := open(t)
	if _, err := db.Exec("DELETE FROM trips"); !errors.Is(err, driver.ErrReadOnly) {
		t.Errorf("Exec: %v", err)
	}
	if _, err := db.Begin(); !errors.Is(err, driver.ErrReadOnly) {
		t.Errorf("Begin: %v", err)
	}
	if _, err := db.Query("CREATE VIEW v AS SELECT 1 AS a"); !errors.Is(err, query.ErrStatements) {
		t.Errorf("only CREATE: %v", err)
	}
	for _, source := range []string{"/nowhere/at/all", "/nowhere/topology.toml", "topology.toml?color=red", "topology.toml?%"} {
		other, err := sql.Open(driver.Name, source)
		if err == nil {
			t.Errorf("%s is opened", source)
			_ = other.Close()
		}
	}
	s, err := db.Prepare("SELECT id FROM trips WHERE city = $1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, city := range []string{"Montreal", "Toronto"} {
		var id int
		if err := s.QueryRow(city).Scan(&id); err != nil || id == 0 {
			t.Errorf("%s: %d, %v", city, id, err)
		}
	}
}
