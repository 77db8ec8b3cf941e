// Package formats has no code: its tests and benchmarks let DuckDB and this project read the same files.
//
//	go test ./formats                       Parquet that one has written is read by the other
//	go test ./formats -run '^$' -bench .    MB of CSV in a second of one core's time, for each format
package formats
