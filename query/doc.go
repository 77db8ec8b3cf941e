// Package query answers SQL over files: CSV, JSON Lines and Parquet, plain or packed, on nodes within the program or on a running cluster.
//
//	db, err := query.Open(ctx, query.Local("data"))
//	defer db.Close()
//	rows, err := db.Query(ctx, "SELECT city, count(*) FROM trips WHERE km > $1 GROUP BY city", 2.5)
//	for rows.Next() {
//		err := rows.Scan(&city, &trips)
//	}
//	err = rows.Err()
//
// FROM trips reads data/trips.csv, or all of data/trips/*.csv; FROM 'pattern' the files below data that fit. The types of columns come from
// samples of the files. docs/sql.md says what the statements mean.
//
// A statement is answered by one session of the cluster or by several. This package decides that, and hides it: it asks again with a wider
// type when a file holds a value that no sample has shown, answers inner queries in passes of their own, reads a file once for several
// statements (Prepare), and continues a session whose node was killed. Package posta.dev/posta/query/driver is the same for database/sql.
package query
