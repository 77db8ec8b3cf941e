package nodes

import (
	"sync"
	"time"

	"posta.dev/posta/nodes/role"
)

// preparing is the pieces of files that are prepared on other goroutines (role.Preparer) while the loop does something else. Their order
// does not change. The loop calls its methods.
//
// To prepare as many pieces as there are cores, and to wait for all of them before the next ones, was rejected: a core that was done waited
// for the others, all waited for the loop, and while a core still read the file nothing ran beside the loop. The input of a run had 1.4 of
// two cores busy.
type preparing struct {
	most  int
	begun []*inPreparation // the oldest first
	some  chan struct{}    // some work has ended since ready was called
	wg    sync.WaitGroup
}

// inPreparation is one of the pieces.
type inPreparation struct {
	piece *role.Piece
	since time.Time
	done  chan struct{}
}

func newPreparing(most int) *preparing {
	return &preparing{most: most, some: make(chan struct{}, 1)}
}

// room reports whether one more piece may be added. A piece takes the memory of a chunk, and of what its rows are turned into.
func (p *preparing) room() bool { return len(p.begun) < p.most }

// add begins the work on a piece.
func (p *preparing) add(piece *role.Piece, works []func()) {
	w := &inPreparation{piece: piece, since: time.Now(), done: make(chan struct{})}
	p.begun = append(p.begun, w)
	if len(works) == 0 {
		close(w.done)
		return
	}
	p.wg.Add(1)
	go func() {
		defer p.wg.Done()
		for _, work := range works {
			work()
		}
		close(w.done)
		select {
		case p.some <- struct{}{}:
		default:
		}
	}()
}

// C delivers when a piece may have become ready. It is nil, and never delivers, if no piece is in preparation.
func (p *preparing) C() <-chan struct{} {
	if p == nil || len(p.begun) == 0 {
		return nil
	}
	return p.some
}

// longestAside is how long the loop leaves a piece to another goroutine.
const longestAside = time.Second

// ready returns the pieces that are ready, without those behind a piece that is not. It waits for a piece that has been in preparation for
// longer than longestAside, and the loop with it: then the node does what it does about a loop that hangs, and does not report that all is
// well (N9).
func (p *preparing) ready() (all []*role.Piece) {
	for len(p.begun) > 0 {
		w := p.begun[0]
		select {
		case <-w.done:
		default:
			if time.Since(w.since) < longestAside {
				return all
			}
			<-w.done
		}
		all, p.begun = append(all, w.piece), p.begun[1:]
	}
	return all
}

// wait waits until no goroutine works on a piece.
func (p *preparing) wait() {
	if p != nil {
		p.wg.Wait()
	}
}
