package client

import (
	"slices"
	"sync"
)

// Warning is something about the input that may be intended. If it is not, the answer lacks rows (C1).
type Warning struct {
	Path string `json:"path"` // the file or directory it is about
	Text string `json:"text"` // what was found there and what to do
}

func (w Warning) String() string { return w.Path + ": " + w.Text }

// maxWarnings is how many warnings are kept and reported. Thousands of warnings usually have the same cause.
const maxWarnings = 1000

// warnings collects the warnings or, in another instance, the notes about the input. Each is reported once, even if the files are looked
// for again.
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
		warning = Warning{"", "there are warnings about other files, too; only the first are listed"}
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
