package process

import "runtime"

// forkThread is the thread that forks tied children. For Linux "parent death" is the end of the forking thread, and Go does not guarantee
// that any other thread stays.
type forkThread struct {
	jobs chan func()
	done chan struct{}
}

func newForkThread() *forkThread {
	f := &forkThread{jobs: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread() // the thread must not end, or a child that was not stopped would be killed
		for job := range f.jobs {
			job()
		}
	}()
	return f
}

// do runs fn on the thread. Not after close.
func (f *forkThread) do(fn func() error) error {
	result := make(chan error, 1)
	f.jobs <- func() { result <- fn() }
	return <-result
}

func (f *forkThread) close() {
	close(f.jobs)
	<-f.done
}
