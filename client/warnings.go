package client

import (
	"slices"
	"sync"
)

// Warning is something about the input that may be meant, but takes rows out of the answer if it is not (C1).
type Warning struct {
	Path string `json:"path"` // the file or directory it is about
	Text string `json:"text"` // what was found there and what to do
}

func (w Warning) String() string { return w.Path + ": " + w.Text }

// maxWarnings is how many warnings are kept and told. Data that is wrong in thousands of places is wrong in one way.
const maxWarnings = 1000

// warnings collects what is told of the input, and in another list what is noted. Each is told once, also if the files are looked for again.
type warnings struct {
	tell func(Warning) // may be nil; called by one goroutine at a time

	mu   sync.Mutex
	list []Warning
}

func (w *warnings) add(path, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	warning := Warning{path, text}
	if len(w.list) == maxWarnings {
		warning = Warning{"", "there is more to say of other files; only the first are listed"}
	}
	if len(w.list) > maxWarnings || slices.Contains(w.list, warning) {
		return
	}
	w.list = append(w.list, warning)
	if w.tell != nil {
		w.tell(warning)
	}
}

func (w *warnings) all() []Warning {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list)
}
