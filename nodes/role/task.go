package role

import (
	"iter"

	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/fold"
)

// Worker is a role whose next call of More may need a long computation. The core lets it compute in slices, and serves other sessions in
// between.
type Worker interface {
	// Work does a slice of what the next call of More needs, some milliseconds, and reports whether there is more to do before that call.
	// It emits nothing and changes no durable state, so it is not recorded. A call of More does whatever work is still missing.
	Work(id session.ID) (more bool, err error)
	// Close ends all computations, when the node gives its state up.
	Close()
}

// Task is a computation over tables that is done in slices. It stops wherever a table pauses (fold.Table.Pause) and wherever it has a
// result, until the next Slice. It needs a stack of its own for that, but nothing runs concurrently with the caller (iter.Pull).
//
// Rejected: a goroutine beside the loop, because a computation that hangs would not be noticed (N9). Rejected, too: functions of analyses
// that can be left and entered anywhere, because nobody would want to write them.
type Task struct {
	next func() ([]byte, bool)
	stop func()
	err  error
}

// NewTask returns a task that has not begun. Each call of put hands out a result, which must not be empty. The tables belong to the task
// until it is done or stopped.
func NewTask(tables []*fold.Table, work func(put func([]byte)) error) *Task {
	t := new(Task)
	t.next, t.stop = iter.Pull(func(yield func([]byte) bool) {
		hand := func(result []byte) {
			if !yield(result) {
				panic("the session has ended") // the panic leaves the computation, and Explain recovers it
			}
		}
		for _, table := range tables {
			table.SetPause(func() { hand(nil) })
		}
		func() {
			defer Explain(&t.err, nil)
			t.err = work(hand)
		}()
		for _, table := range tables {
			table.SetPause(nil)
		}
	})
	return t
}

// slicePauses is after how many pauses a slice ends. Between two pauses the computation handles 4,096 rows.
const slicePauses = 4

// Slice works until there is a result, the task is done, or the slice is over. In the last case result is nil, done is false, and there is
// more to do.
func (t *Task) Slice() (result []byte, done bool, err error) {
	for range slicePauses {
		result, ok := t.next()
		switch {
		case !ok:
			return nil, true, t.err
		case result != nil:
			return result, false, nil
		}
	}
	return nil, false, nil
}

// Stop ends the task at any point. The computation's deferred functions run. A nil task needs no stop.
func (t *Task) Stop() {
	if t != nil {
		t.stop()
	}
}
