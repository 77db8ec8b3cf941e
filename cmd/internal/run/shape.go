package run

import (
	"context"
	"runtime"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/topology"
)

// coresForTwoInputs is the number of cores from which a run has two inputs, if each can have a file of facts. What one input cannot divide
// among its goroutines (the cutting of its file, and its loop) keeps 6 to 12 cores busy. With two inputs, facts are sent to joiners in
// processes of their own, which is a fifth more work; so two inputs pay where cores would be idle (docs/measurements/growth.md).
const coresForTwoInputs = 12

// inputsFor returns how many inputs the private cluster of an analysis has on this machine, unless flags say it.
func inputsFor(ctx context.Context, cores int, cfg *client.Config, a *analyses.Analysis) int {
	if cores < coresForTwoInputs || len(cfg.Named) > 0 { // to look at named files could open a pipe
		return 1
	}
	in := client.NewInput(cfg.Dir, nil, nil, cfg.Comma)
	defer func() { _ = in.Close() }() // nothing was sampled, so nothing is open
	files := 0
	for _, s := range a.Streams {
		if s.Reference {
			continue
		}
		stamps, err := in.Stamps(ctx, protocol.Stream{Name: s.Name, Files: s.Files})
		if err != nil {
			return 1 // the session reports the error
		}
		files += len(stamps)
	}
	return min(max(files, 1), 2)
}

// Cores returns how many cores the processes of a run can use. Tests replace it.
var Cores = func() int { return runtime.GOMAXPROCS(0) }

// widen gives the variant as many inputs, unless its flags say how many processes a stage has.
func widen(v *topology.Variant, inputs int) {
	if inputs > 1 && len(v.Replicas) == 0 && !v.SplitParsers {
		v.Replicas = map[string]int{string(topology.Input): inputs}
	}
}
