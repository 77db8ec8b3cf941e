//go:build race

package sim

// raceEnabled makes the suite smaller: the simulator starts no goroutine, so the race detector finds nothing here and costs ten
// times the time.
const raceEnabled = true
