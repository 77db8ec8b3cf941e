package call

import (
	"sync"
)

// Interrupts lets a command handle Ctrl-C itself instead of ending.
type Interrupts struct {
	mu    sync.Mutex
	taken func() bool // nil: Ctrl-C ends the command
}

// Claim passes each Ctrl-C to take until release is called. If take returns false, the command ends.
func (i *Interrupts) Claim(take func() bool) (release func()) {
	i.set(take)
	return func() { i.set(nil) }
}

func (i *Interrupts) set(take func() bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.taken = take
}

// Take passes a Ctrl-C to the command, and reports whether the command has handled it.
func (i *Interrupts) Take() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.taken != nil && i.taken()
}
