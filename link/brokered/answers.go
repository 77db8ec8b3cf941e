package brokered

import (
	"sync"

	"posta.dev/posta/link"
)

// Answers is the acknowledgements on their way from the node's loop to the goroutine that publishes them. Acknowledgements
// are cumulative (R6): of each link the last is enough, so that they need no bound.
type Answers struct {
	wake chan struct{}

	mu     sync.Mutex
	latest map[answerKey]link.Ack
}

type answerKey struct {
	edge string
	to   link.NodeID
}

// NewAnswers returns an empty one.
func NewAnswers() *Answers {
	return &Answers{wake: make(chan struct{}, 1), latest: map[answerKey]link.Ack{}}
}

// Put takes acknowledgements. A resend that was asked for and not published yet is still asked for.
func (x *Answers) Put(acks []link.Ack) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range acks {
		k := answerKey{a.Edge, a.To}
		if old, ok := x.latest[k]; ok && old.Resend && old.Log == a.Log && old.Hwm == a.Hwm {
			a.Resend = true
		}
		x.latest[k] = a
	}
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Wake is ready when Take may have something.
func (x *Answers) Wake() <-chan struct{} { return x.wake }

// Take returns, and forgets, what is to be published.
func (x *Answers) Take() []link.Ack {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := make([]link.Ack, 0, len(x.latest))
	for k, a := range x.latest {
		out = append(out, a)
		delete(x.latest, k)
	}
	return out
}

// Empty reports whether nothing is to be published.
func (x *Answers) Empty() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.latest) == 0
}
