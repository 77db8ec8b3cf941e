package nodes

import (
	"runtime"
	"time"

	"posta.dev/posta/nodes/inplace"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/nodes/shell"
	"posta.dev/posta/topology"
)

// mostAside bounds how many pieces of files are parsed in parallel, however many cores there are: each takes the memory of a chunk.
const mostAside = 16

// openReader creates the reader of files in place, for an input on a host with roots (S8).
func (x *node) openReader() {
	roots := x.cfg.Topology.RootsOf(x.node.Host)
	if len(roots) > 0 && x.node.Holds(topology.Input) {
		x.processors.work(time.Now()) // so that it has its share, by which the room for pieces is chosen
		aside := min(runtime.GOMAXPROCS(0), mostAside)
		x.files, x.preparing = inplace.New(roots, 2+aside), newPreparing(aside)
	}
}

// readFiles begins and ends reading as the shell wants it. It returns the channels of the next pieces, nil for a kind
// of pieces for which the shell has no room.
func (x *node) readFiles(o *shell.Output) (reference, facts <-chan *role.Piece) {
	if x.files == nil {
		return nil, nil
	}
	x.files.Release(o.Read)
	x.files.Want(x.shell.Reads())
	if !x.preparing.room() {
		return nil, nil
	}
	if x.shell.WantsPieces(true) {
		reference = x.files.C(true)
	}
	if x.shell.WantsPieces(false) {
		facts = x.files.C(false)
	}
	return reference, facts
}

// piece has a piece of a file prepared, and hands the shell all pieces that are ready.
func (x *node) piece(p *role.Piece) {
	works := x.shell.PreparePieces([]*role.Piece{p})
	x.preparing.add(p, works)
	x.prepared()
}

// prepared hands the shell the pieces that are ready.
func (x *node) prepared() {
	if ready := x.preparing.ready(); len(ready) > 0 {
		x.shell.Pieces(time.Now(), ready)
	}
}
