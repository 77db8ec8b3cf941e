// Package analysistest is what every analysis must do, as tests: whoever writes one calls it from tests of his own with a few
// rows of data, and learns what happens to files that are not what they should be; and with an oracle and a generator, and
// learns whether its answers are right whatever the interleaving.
//
//	func TestDamagedFiles(t *testing.T) {
//		analysistest.Damage(t, flights.New(), files, badRows)
//	}
//
//	var subject = analysistest.Subject{New: flights.New, Oracle: flightsoracle.Run, Generate: gen.Flights}
//
//	func TestSamples(t *testing.T) { subject.Samples(t, 10000) }
//
// It runs analyses through package local, and knows none of them. What is particular to one analysis stays in its own tests:
// the rows that make up a case, and what is to be expected of them.
package analysistest
