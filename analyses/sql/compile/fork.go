package compile

import (
	"errors"

	"posta.dev/posta/analyses"
)

// Fork implements analyses.Forker. Forks share what the joiner has computed from the reference streams: the rows for lookups,
// and the answers of queries. Each fork has its own programs, tables and accumulators.
func (j *joiner) Fork(stream int) (analyses.Joiner, error) {
	if err := j.prepare(stream); err != nil {
		return nil, err
	}
	f := j.refs.s.withoutLeaves()
	f.of, f.most = j, j.most
	for _, w := range j.leaves[stream] {
		own := &worker{leaf: w.leaf, x: w.x, meter: f.meter}
		if err := errors.Join(own.prepare(w.steps), f.follow(own)); err != nil {
			return nil, err
		}
		f.leaves[stream] = append(f.leaves[stream], own)
	}
	return f, nil
}
