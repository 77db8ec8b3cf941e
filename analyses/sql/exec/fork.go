package exec

import (
	"errors"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/progress"
)

// Fork implements analyses.Forker. Forks share what the joiner has computed from the reference streams: the rows for lookups,
// and the answers of queries. Each fork has its own programs, tables and accumulators.
func (j *Joiner) Fork(stream int) (analyses.Joiner, error) {
	if err := j.prepare(stream); err != nil {
		return nil, err
	}
	f := j.Refs.s.withoutLeaves()
	f.of, f.Most = j, j.Most
	f.limit(j.memory)
	for _, w := range j.leaves[stream] {
		own := &worker{Leaf: w.Leaf, x: w.x, meter: f.meter}
		if err := errors.Join(own.prepare(w.steps), f.follow(own)); err != nil {
			return nil, err
		}
		f.leaves[stream] = append(f.leaves[stream], own)
	}
	return f, nil
}

// ForkSliced implements analyses.Slicer. The first call may compute the right sides of joins.
func (j *Joiner) ForkSliced(stream int, pause func()) (analyses.Joiner, error) {
	x := j.Refs.executor()
	x.SetPause(pause)
	f, err := j.Fork(stream)
	x.SetPause(progress.Mark)
	if err != nil || !f.(*Joiner).long(stream) {
		return nil, err
	}
	f.(*Joiner).meter.Pause = pause
	return f, nil
}

// long reports whether the work on a few rows may take long: a join or UNNEST may make many rows of one, and a regular expression may take
// seconds.
func (j *Joiner) long(stream int) bool {
	return j.meter.Slow() || slices.ContainsFunc(j.leaves[stream], func(w *worker) bool {
		return slices.ContainsFunc(w.steps, func(st step) bool { return st.spread != nil || st.lookup != nil && st.lookup.kept.Repeats() })
	})
}
