package compile

import (
	"errors"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/progress"
)

// Fork implements analyses.Forker. Forks share what the joiner has computed from the reference streams: the rows for lookups,
// and the answers of queries. Each fork has its own programs, tables and accumulators.
func (j *joiner) Fork(stream int) (analyses.Joiner, error) {
	if err := j.prepare(stream); err != nil {
		return nil, err
	}
	f := j.refs.s.withoutLeaves()
	f.of, f.most = j, j.most
	f.limit(j.memory)
	for _, w := range j.leaves[stream] {
		own := &worker{leaf: w.leaf, x: w.x, meter: f.meter}
		if err := errors.Join(own.prepare(w.steps), f.follow(own)); err != nil {
			return nil, err
		}
		f.leaves[stream] = append(f.leaves[stream], own)
	}
	return f, nil
}

// ForkSliced implements analyses.Slicer. The first call may compute the right sides of joins.
func (j *joiner) ForkSliced(stream int, pause func()) (analyses.Joiner, error) {
	x := j.refs.executor()
	x.SetPause(pause)
	f, err := j.Fork(stream)
	x.SetPause(progress.Mark)
	if err != nil || !f.(*joiner).long(stream) {
		return nil, err
	}
	f.(*joiner).meter.Pause = pause
	return f, nil
}

// long reports whether the work on a few rows may take long: a join or UNNEST may make many rows of one, and a regular expression may take
// seconds.
func (j *joiner) long(stream int) bool {
	return j.meter.Slow() || slices.ContainsFunc(j.leaves[stream], func(w *worker) bool {
		return slices.ContainsFunc(w.steps, func(st step) bool { return st.spread != nil || st.lookup != nil && st.lookup.kept.Repeats() })
	})
}
