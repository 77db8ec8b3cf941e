package tracing

import (
	"strings"

	"posta.dev/posta/nodes/trace"
)

// Kind is how a state is shown.
type Kind struct {
	State             trace.State
	Sign, Head, Words string // in bars, above its column, in the key
}

// Kinds are the states in the order of their columns.
var Kinds = [...]Kind{
	{trace.Working, "#", "work", "works"},
	{trace.Turn, ":", "turn", "waits for its turn"},
	{trace.Log, "=", "log", "waits for the log"},
	{trace.Blocked, ">", "next", "the next stage is full"},
	{trace.Reference, "r", "ref", "waits for reference data"},
	{trace.Input, ".", "in", "waits for input"},
}

// Sign returns the sign of a state, a blank for None.
func Sign(state trace.State) string {
	for _, k := range Kinds {
		if k.State == state {
			return k.Sign
		}
	}
	return " "
}

// Text returns a bar as text.
func Text(bar []trace.State) string {
	var b strings.Builder
	for _, state := range bar {
		b.WriteString(Sign(state))
	}
	return b.String()
}
