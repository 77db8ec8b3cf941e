package zmqx

import "sync"

// gate holds readers back while it is shut. The zero gate is open.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // nil: open; closed when the gate opens
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case shut && g.shut == nil:
		g.shut = make(chan struct{})
	case !shut && g.shut != nil:
		close(g.shut)
		g.shut = nil
	}
}

// pass waits until the gate is open; false if quit came first.
func (g *gate) pass(quit <-chan struct{}) bool {
	for {
		g.mu.Lock()
		shut := g.shut
		g.mu.Unlock()
		if shut == nil {
			return true
		}
		select {
		case <-shut:
		case <-quit:
			return false
		}
	}
}
