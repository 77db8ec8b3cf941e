package medic

import (
	"context"
	"sync"
	"time"
)

// Stopped is what Stop did to a node.
type Stopped struct {
	Node   NodeID
	Was    bool // it had a process
	Killed bool // it did not exit by itself in time
	Err    error
	Death  Death
	Took   time.Duration
}

// killTime bounds the wait for a killed process to be gone.
const killTime = 5 * time.Second

// Stop ends nodes, all at once: it asks them to drain and exit, and kills those that still run after grace, or when ctx ends. The result is
// in the order of nodes. Nothing else may start them meanwhile.
func Stop(ctx context.Context, r Restarter, nodes []NodeID, grace time.Duration) []Stopped {
	out := make([]Stopped, len(nodes))
	var wg sync.WaitGroup
	for i, node := range nodes {
		wg.Add(1)
		go func() {
			defer wg.Done()
			began := time.Now()
			out[i] = stop(ctx, r, node, grace)
			out[i].Took = time.Since(began)
		}()
	}
	wg.Wait()
	return out
}

func stop(ctx context.Context, r Restarter, node NodeID, grace time.Duration) Stopped {
	s := Stopped{Node: node}
	// ctx only ends the grace. The nodes are stopped in any case.
	must, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace+killTime)
	defer cancel()
	if s.Was, s.Err = r.Alive(must, node); s.Err != nil || !s.Was {
		return s
	}
	if s.Err = r.Terminate(must, node); s.Err == nil {
		polite, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		if s.Death, s.Err = r.Wait(polite, node); s.Err == nil {
			return s
		}
	}
	s.Killed = true
	if s.Err = r.Kill(must, node); s.Err == nil {
		s.Death, s.Err = r.Wait(must, node)
	}
	return s
}
