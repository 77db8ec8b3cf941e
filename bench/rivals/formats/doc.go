// Package formats has only tests and benchmarks, in which DuckDB and this project read the same files.
//
//	go test ./formats                       each reads Parquet that the other has written
//	go test ./formats -run '^$' -bench .    MB of CSV in a second of one core's time, for each format
package formats
