package nodes

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/nodes/role"
)

// TestR17_PiecesKeepTheirOrder: pieces that are prepared in parallel come back in the order in which they were read, whichever is ready
// first.
func TestR17_PiecesKeepTheirOrder(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPreparing(3)
	first, second, third := &role.Piece{From: 1}, &role.Piece{From: 2}, &role.Piece{From: 3}
	release := make(chan struct{})
	prepared := make(chan struct{})
	p.add(first, []func(){func() { <-release }})
	p.add(second, []func(){func() { close(prepared) }})
	if !p.room() {
		t.Error("there is no room for a third piece of three")
	}
	p.add(third, nil)
	if p.room() {
		t.Error("there is room for a fourth piece of three")
	}
	<-prepared
	if got := p.ready(); len(got) > 0 {
		t.Errorf("%d pieces came before the first", len(got))
	}
	close(release)
	var all []*role.Piece
	for len(all) < 3 {
		<-p.C()
		all = append(all, p.ready()...)
	}
	if !slices.Equal(all, []*role.Piece{first, second, third}) {
		t.Errorf("the order has changed: %v", all)
	}
	if p.C() != nil || !p.room() {
		t.Error("pieces that were handed over are still in preparation")
	}
	p.wait()
}

// TestN9_ThePieceThatHangsStopsTheLoop: a parser that never returns hangs the loop, which medics and the node itself notice, although it
// runs on another goroutine.
func TestN9_ThePieceThatHangsStopsTheLoop(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPreparing(2)
	release := make(chan struct{})
	p.add(&role.Piece{}, []func(){func() { <-release }})
	p.begun[0].since = time.Now().Add(-2 * longestAside)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		p.ready()
	}()
	select {
	case <-returned:
		t.Error("the loop went on")
	case <-time.After(20 * time.Millisecond):
	}
	close(release)
	<-returned
	p.wait()
}

// TestR9_NoNodeWithoutFilesPrepares: the loop asks at each turn, in a node that reads no files, too.
func TestR9_NoNodeWithoutFilesPrepares(t *testing.T) {
	var none *preparing
	if none.C() != nil {
		t.Error("it delivers")
	}
	none.wait()
}
