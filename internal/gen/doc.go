// Package gen generates data of any size that looks like the real data, with its quirks: for tests, and for benchmarks that
// read gigabytes. No real data comes with Posta.
//
//	err := gen.Bikes(gen.OnDisk("data"), 1_000_000, 1) // → data/<city>/{weather,stations,trips}.csv
//
// The bytes depend on the number of rows and the seed alone, on every machine. Every query has answers as soon as there are
// about 20,000 rows, and every quirk that the definitions of the queries name is there: see the file of each analysis for the
// list. Rows are put together from prepared pieces, without fmt, so that making data is not what a benchmark waits for.
//
// The package knows no analysis: what is right about its data is for the oracles to say.
package gen
