// Contestant is the reference of posta bench: a process that answers an analysis with its oracle, and reports what that cost.
package main

import (
	"os"

	"posta.dev/posta/bench"
	"posta.dev/posta/test/e2e/truth"
)

func main() { os.Exit(bench.Oracle(os.Args[1:], truth.Here)) }
