package cmd

import (
	"os"
	"runtime"
	"runtime/debug"

	"posta.dev/posta/internal/cgroup"
)

// firstGarbage is how much a command allocates, as a percentage of Go's 4 MiB, before garbage is collected for the first time. A question
// over a small file allocates less. Its only collection would take a tenth of its CPU time, and find hardly anything: until then most of
// what is there is in use.
const firstGarbage = 400

// boundMemory makes the collector work harder instead of letting garbage take what a control group allows this process: a quarter is left
// for what Go does not count, such as the system's copies of files. A node in a process of its own sets its own bound. GOMEMLIMIT of the
// environment takes precedence.
func boundMemory() {
	if limit, _ := cgroup.Memory(); limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 4 * 3)
	}
}

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
