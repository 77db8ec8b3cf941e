package movies

import (
	"cmp"

	"posta.dev/posta/analyses"
)

// before reports whether row i of the batch at p comes before row k of the batch at q in their files. It decides that "the
// first row wins", so the order in which batches arrive does not matter, nor the order in which they arrive again after a
// crash.
func before(p *analyses.Position, i int32, q *analyses.Position, k int32) bool {
	return cmp.Or(cmp.Compare(p.File.Name, q.File.Name), cmp.Compare(p.Line, q.Line), cmp.Compare(i, k)) < 0
}
