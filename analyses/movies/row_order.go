package movies

import (
	"cmp"

	"posta.dev/posta/analyses"
)

// before reports whether row i of the batch at p comes before row k of the one at q, in the order in which the rows stand in
// files: "the first row wins" is decided by it, so that the order in which batches arrive, and arrive again after a crash, does
// not matter.
func before(p *analyses.Position, i int32, q *analyses.Position, k int32) bool {
	return cmp.Or(cmp.Compare(p.File.Name, q.File.Name), cmp.Compare(p.Line, q.Line), cmp.Compare(i, k)) < 0
}
