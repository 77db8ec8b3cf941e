package zmqx

import (
	"net"
	"slices"
	"sync"
)

// antechamber holds the connections of a listener that are not through their handshake. When it is full, the one that
// has waited longest is turned out: an honest peer needs milliseconds, so it is most likely a silent one. Refusing the
// newcomer instead would let as many silent clients lock everybody out.
type antechamber struct {
	max int

	mu     sync.Mutex
	gone   *sync.Cond // a guest has left
	guests []*guest   // in order of arrival
}

type guest struct {
	conn      net.Conn
	turnedOut bool
}

func newAntechamber(max int) *antechamber {
	a := &antechamber{max: max}
	a.gone = sync.NewCond(&a.mu)
	return a
}

// enter waits for a place, after making sure that one becomes free at once.
func (a *antechamber) enter(conn net.Conn) *guest {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.guests) >= a.max {
		a.turnOutLocked()
	}
	for len(a.guests) >= a.max {
		a.gone.Wait()
	}
	g := &guest{conn: conn}
	a.guests = append(a.guests, g)
	return g
}

// turnOutLocked closes the oldest connection; its goroutine then fails and leaves.
func (a *antechamber) turnOutLocked() {
	for _, g := range a.guests {
		if !g.turnedOut {
			g.turnedOut = true
			g.conn.Close()
			return
		}
	}
}

func (a *antechamber) leave(g *guest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.guests, g); i >= 0 {
		a.guests = slices.Delete(a.guests, i, i+1)
	}
	a.gone.Signal()
}
