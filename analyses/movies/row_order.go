package movies

import (
	"cmp"

	"posta.dev/posta/analyses"
)

// before reports whether row i of the batch at p comes before row k of the batch at q in their files. By this "the first row
// wins" is decided. So the order does not matter in which batches arrive, or arrive again after a crash.
func before(p *analyses.Position, i int32, q *analyses.Position, k int32) bool {
	return cmp.Or(cmp.Compare(p.File.Name, q.File.Name), cmp.Compare(p.Line, q.Line), cmp.Compare(i, k)) < 0
}
