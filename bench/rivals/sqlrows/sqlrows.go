// Package sqlrows reads whole answers of database/sql.
package sqlrows

import "database/sql"

// All returns all remaining rows, as values of Go. The caller closes rows.
func All(rows *sql.Rows) (all [][]any, err error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		row, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
