// Package analysistest is what every analysis must do, as tests: whoever writes one calls it from a test of his own with a few
// rows of data, and learns what happens to files that are not what they should be.
//
//	func TestDamagedFiles(t *testing.T) {
//		analysistest.Damage(t, flights.New(), files, badRows)
//	}
//
// It runs analyses through package local, and knows none of them.
package analysistest
