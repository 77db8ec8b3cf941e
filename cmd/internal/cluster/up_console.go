package cluster

import (
	"context"
	"errors"
	"time"

	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/local"
	"posta.dev/posta/topology"
)

// takenConsoles returns the addresses of this machine's consoles at which something else answers. A console that does not answer yet is
// waited for until ctx ends, since it starts after its medic and makes the secret before it listens.
func takenConsoles(ctx context.Context, t *topology.Topology, procs *local.Processes) (taken []string, err error) {
	for _, id := range procs.Medics() {
		m, err := t.Medic(id)
		if err != nil || t.ConsoleAddress(m) == "" {
			continue
		}
		keys, err := procs.Keys()
		if err != nil {
			return nil, err
		}
		for ctx.Err() == nil {
			trust, err := console.Known(t, keys)
			if err == nil {
				err = console.Check(ctx, t.ConsoleAddress(m), trust)
			} else if !errors.Is(err, console.ErrNoSecret) {
				return nil, err
			}
			if errors.Is(err, console.ErrStranger) {
				taken = append(taken, t.ConsoleAddress(m))
			}
			if err == nil || errors.Is(err, console.ErrStranger) {
				break
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
	return taken, nil
}
