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
		x.files = inplace.New(roots, 2+min(runtime.GOMAXPROCS(0), mostAside))
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
	if x.shell.WantsPieces(true) {
		reference = x.files.C(true)
	}
	if x.shell.WantsPieces(false) {
		facts = x.files.C(false)
	}
	return reference, facts
}

// pieces hands pieces of files to the shell: first, and those of its kind that have been read meanwhile, as many as can be parsed in parallel.
func (x *node) pieces(first *role.Piece) {
	all := []*role.Piece{first}
	for len(all) < min(runtime.GOMAXPROCS(0), mostAside) {
		select {
		case p := <-x.files.C(first.Reference):
			all = append(all, p)
			continue
		default:
		}
		break
	}
	if len(all) > 1 {
		sideBySide(x.shell.PreparePieces(all))
	}
	x.shell.Pieces(time.Now(), all)
}
