package query_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"posta.dev/posta/query"
)

// files makes a directory with trips.csv, for the examples.
func files() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "posta-example-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "trips.csv"), []byte("id,city,km\n1,Montreal,2.25\n2,Toronto,9.75\n3,Montreal,4\n"), 0o600)
	}
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }
}

func ExampleDB_Query() {
	dir, remove := files()
	defer remove()
	ctx := context.Background()
	db, err := query.Open(ctx, query.Local(dir))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Query(ctx, "SELECT city, count(*), sum(km) FROM trips WHERE km > $1 GROUP BY city ORDER BY city", 2)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var city string
		var trips int
		var km float64
		if err := rows.Scan(&city, &trips, &km); err != nil {
			log.Fatal(err)
		}
		fmt.Println(city, trips, km)
	}
	fmt.Println(rows.Err())
	// Output:
	// Montreal 2 6.25
	// Toronto 1 9.75
	// <nil>
}

// Several statements over the same file read it once.
func ExampleScript_Run() {
	dir, remove := files()
	defer remove()
	ctx := context.Background()
	db, err := query.Open(ctx, query.Local(dir))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	s, err := db.Prepare(ctx, "-- name: far\nSELECT max(km) FROM trips; -- name: many\nSELECT count(*) FROM trips")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	answer, err := s.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for i, st := range s.Statements() {
		rows := s.Rows(answer, i)
		for rows.Next() {
			fmt.Println(st.Name, rows.Value(0))
		}
		_ = rows.Close()
	}
	// Output:
	// far 9.75
	// many 3
}

func ExampleRows_Batches() {
	dir, remove := files()
	defer remove()
	ctx := context.Background()
	db, err := query.Open(ctx, query.Local(dir))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Query(ctx, "SELECT id, km FROM trips ORDER BY id")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for b := range rows.Batches() {
		fmt.Println(b.Len, b.Columns[0].Ints, b.Columns[1].Floats)
	}
	// Output:
	// 3 [1 2 3] [2.25 9.75 4]
}
