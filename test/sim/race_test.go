//go:build race

package sim

// raced makes the suite smaller: the simulator starts no goroutine, so the race detector finds nothing here and costs ten
// times the time.
const raced = true
