// Package analysistest tests what every analysis must do. The author of an analysis calls it from tests with a few rows of
// data, to see how the analysis handles damaged files. With an oracle and a generator, the tests also show whether the answers
// are right for every interleaving.
//
//	func TestDamagedFiles(t *testing.T) {
//		analysistest.Damage(t, flights.New(), files, badRows)
//	}
//
//	var subject = analysistest.Subject{New: flights.New, Oracle: flightsoracle.Run, Generate: gen.Flights}
//
//	func TestSamples(t *testing.T) { subject.Samples(t, 10000) }
//
// It runs analyses through package local, and depends on no particular analysis. What belongs to one analysis stays in its own
// tests: the rows of a special case and the answer that they must give.
package analysistest
