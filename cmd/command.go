package cmd

import (
	"posta.dev/posta/cmd/internal/call"
)

// command is one call of posta.
type command struct {
	*call.Call
	program Program
}

func newCommand(p Program, c Console, sig *signals) *command {
	p = p.withDefaults()
	return &command{program: p, Call: &call.Call{
		Analyses: p.Analyses, Generators: p.Generators, RunNode: p.RunNode, Version: p.Version,
		In: c.In, Out: c.Out, Err: c.Err, Forced: sig.forced, Interrupts: sig.interrupts,
	}}
}
