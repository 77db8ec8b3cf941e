package joiner

import (
	"bytes"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/batch"
)

// ahead is a batch of facts that is computed in slices, in a fork, before its frame is taken. The joiner's own tables stay as they are
// meanwhile, because they are flushed with each commit.
type ahead struct {
	stream  int
	payload []byte     // a copy: the frame may be dropped, and come again
	task    *role.Task // nil when it is done
	fork    analyses.Joiner
	err     error
}

var _ role.Slicer = (*Joiner)(nil)

// Ahead implements role.Slicer. One batch of a session is computed after the other, because the first one also computes what the analysis
// needs from the reference streams. The oldest is first, whichever frame the core asks for: a frame that was dropped comes again.
func (j *Joiner) Ahead(id session.ID, m role.Message) (more bool) {
	st := j.sessions[id]
	slicer, ok := st.joiner.(analyses.Slicer)
	if !ok || st.Analysis.Streams[m.Stream].Reference || slices.Contains(st.short, m.Stream) {
		return false
	}
	a := st.aheadOf(m.Stream, m.Payload)
	if a == nil {
		a = &ahead{stream: m.Stream, payload: bytes.Clone(m.Payload)}
		a.task = role.NewTask(nil, func(put func([]byte)) error {
			st.pause = func() { put(nil) }
			return st.compute(slicer, a)
		})
		st.ahead = append(st.ahead, a)
	}
	if at := slices.IndexFunc(st.ahead, func(a *ahead) bool { return a.task != nil }); at >= 0 {
		of := st.ahead[at]
		if _, done, err := of.task.Slice(); done {
			of.task, of.err = nil, err
		}
	}
	return a.task != nil
}

// compute folds a batch in a fork. Without a fork, Take folds the batch.
func (st *state) compute(slicer analyses.Slicer, a *ahead) (err error) {
	if st.deferred {
		if err := st.catchUp(); err != nil {
			return err
		}
	}
	rows, err := role.DecodeRows(a.payload)
	if err != nil || len(rows.Batch) == 0 {
		return nil // Take finds the error
	}
	fork := st.forks[a.stream]
	if delete(st.forks, a.stream); fork == nil {
		if fork, err = slicer.ForkSliced(a.stream, func() { st.pause() }); err != nil {
			return err
		}
	}
	if fork == nil {
		st.short = append(st.short, a.stream)
		return nil
	}
	b, err := batch.Decode(rows.Batch, st.Analysis.Streams[a.stream].Schema)
	if err != nil {
		return err
	}
	if err := fork.Facts(a.stream, b, analyses.Position{File: rows.File, Line: rows.Line}); err != nil {
		return err
	}
	a.fork = fork
	return nil
}

// aheadOf returns the computation for a frame, nil if there is none.
func (st *state) aheadOf(stream int, payload []byte) *ahead {
	at := slices.IndexFunc(st.ahead, func(a *ahead) bool { return a.stream == stream && bytes.Equal(a.payload, payload) })
	if at < 0 {
		return nil
	}
	return st.ahead[at]
}

// takeAhead takes what was computed for a frame. It returns false if the frame's batch has to be folded now.
func (st *state) takeAhead(stream int, payload []byte) (taken bool, err error) {
	a := st.aheadOf(stream, payload)
	if a == nil || a.task != nil {
		return false, nil
	}
	st.ahead = slices.DeleteFunc(st.ahead, func(b *ahead) bool { return b == a })
	if a.err != nil || a.fork == nil {
		return a.err != nil, a.err
	}
	st.dirty, st.forks[stream] = true, a.fork
	return true, a.fork.Flush(st.tables[:len(st.tables)-1])
}

// stop ends the computations of a session.
func (st *state) stop() {
	for _, a := range st.ahead {
		a.task.Stop()
	}
}

// Close implements role.Slicer.
func (j *Joiner) Close() {
	for _, st := range j.sessions {
		st.stop()
	}
}
