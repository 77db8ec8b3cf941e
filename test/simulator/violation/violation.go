// Package violation has the error that a simulator reports when a rule did not hold. It is for tests.
package violation

import (
	"fmt"
	"regexp"
	"time"
)

// Violation is a rule that did not hold.
type Violation struct {
	Package string // package of the simulator: "./test/sim"
	Seed    uint64
	At      time.Duration // in simulated time
	Rule    string        // "R5"; "liveness"; "panic" for one that names no rule; empty if the simulator names none
	What    string
}

// naming finds the rule that a text names at its beginning. A failed assertion of a core names its rule in the text of its panic.
var naming = regexp.MustCompile(`^(?:panic: )?([A-Z]\d+|liveness): `)

// New makes a Violation from a text like "R5: node-1 stores …" or "panic: M3: …".
func New(pkg string, seed uint64, at time.Duration, text string) *Violation {
	v := &Violation{Package: pkg, Seed: seed, At: at, What: text}
	if found := naming.FindStringSubmatch(text); found != nil {
		v.Rule, v.What = found[1], text[len(found[0]):]
	} else if len(text) > len(panicked) && text[:len(panicked)] == panicked {
		v.Rule, v.What = "panic", text[len(panicked):]
	}
	return v
}

const panicked = "panic: "

func (v *Violation) Error() string {
	return fmt.Sprintf("%s\nsee it again: go test %s -run TestSeeds -seed=%d -seeds=1 -v", v.Short(), v.Package, v.Seed)
}

// Short returns the error without the command that reproduces it.
func (v *Violation) Short() string {
	rule := v.Rule
	if rule != "" {
		rule += ": "
	}
	return fmt.Sprintf("seed %d, after %v: %s%s", v.Seed, v.At, rule, v.What)
}
