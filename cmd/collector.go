package cmd

import (
	"os"
	"runtime"
	"runtime/debug"
)

// firstGarbage is how much a command allocates, as a percentage of Go's 4 MiB, before garbage is collected for the first time. A question
// over a small file allocates less. Its only collection would take a tenth of its CPU time, and find hardly anything: until then most of
// what is there is in use.
const firstGarbage = 400

// collectLater delays the first collection of garbage. After that one, Go's own percentage holds, so a command takes at most 12 MiB more
// memory than it would without. GOGC in the environment takes precedence.
//
// A larger percentage for ever was rejected: the garbage grows with the data.
func collectLater() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const usual = 100
	debug.SetGCPercent(firstGarbage)
	runtime.AddCleanup(&struct{ unused *byte }{}, func(percent int) { debug.SetGCPercent(percent) }, usual)
}
