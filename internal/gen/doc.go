// Package gen generates data of any size that looks like the real data, with its quirks: for tests, and for benchmarks that
// read gigabytes. Posta comes without real data.
//
//	err := gen.Bikes(gen.OnDisk("data"), 1_000_000, 1) // → data/<city>/{weather,stations,trips}.csv
//
// The bytes depend only on the number of rows and the seed, on every machine. Every query has answers from about 20,000 rows
// on, and every quirk that the definitions of the queries name occurs: the file of each analysis has a list. Rows are
// assembled from prepared pieces, without fmt, so that benchmarks do not wait for their data.
//
// The package knows no analysis: oracles determine the right answers for its data.
package gen
