package console

import (
	"context"
	"errors"
	"sync"
	"time"
)

// maxWatchers bounds how many pages are live at a time. Other pages can still be read and reloaded.
const maxWatchers = 64

var errCrowded = errors.New("too many pages are open")

// feed draws the watched pages. Its goroutine looks at the cluster only while there is a watcher.
type feed struct {
	look  func(context.Context) *Seen
	show  func(*Seen, place) // called with each page before it is drawn; may be nil
	note  func(time.Time)    // called at each tick, with or without watchers; may be nil
	every time.Duration

	mu       sync.Mutex
	watchers map[*watcher]struct{}
	begun    chan struct{} // holds one value while run has not noticed the first watcher
}

// watcher is an open page.
type watcher struct {
	place place
	ready chan struct{} // holds one value while there are parts to take

	mu    sync.Mutex
	parts []part // the newest parts; nil after they were taken
}

func newFeed(look func(context.Context) *Seen, every time.Duration) *feed {
	return &feed{look: look, every: every, watchers: map[*watcher]struct{}{}, begun: make(chan struct{}, 1)}
}

// watch adds a watcher, which the caller must give to leave. It returns errCrowded if there are too many watchers.
func (f *feed) watch(p place) (*watcher, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.watchers) >= maxWatchers {
		return nil, errCrowded
	}
	w := &watcher{place: p, ready: make(chan struct{}, 1)}
	f.watchers[w] = struct{}{}
	signal(f.begun)
	return w, nil
}

func (f *feed) leave(w *watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watchers, w)
}

// run looks at the cluster and draws pages until ctx ends.
func (f *feed) run(ctx context.Context) {
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	for {
		select {
		case <-f.begun:
		case now := <-tick.C:
			if f.note != nil {
				f.note(now)
			}
		case <-ctx.Done():
			return
		}
		if watched := f.watched(); len(watched) > 0 {
			f.draw(f.look(ctx), watched)
		}
	}
}

func (f *feed) watched() map[place][]*watcher {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[place][]*watcher{}
	for w := range f.watchers {
		all[w.place] = append(all[w.place], w)
	}
	return all
}

// draw draws each page once, whatever the number of its watchers. It does not draw a page that no longer exists: the watchers of such a
// page keep what they have.
func (f *feed) draw(s *Seen, watched map[place][]*watcher) {
	for p, watchers := range watched {
		if f.show != nil {
			f.show(s, p)
		}
		v, err := draw(s, p)
		if err != nil {
			continue
		}
		for _, w := range watchers {
			w.put(v.Parts)
		}
	}
}

// put replaces parts that were not taken. A slow watcher sees fewer pages, but never an old one.
func (w *watcher) put(parts []part) {
	w.mu.Lock()
	w.parts = parts
	w.mu.Unlock()
	signal(w.ready)
}

func (w *watcher) take() (parts []part) {
	w.mu.Lock()
	defer w.mu.Unlock()
	parts, w.parts = w.parts, nil
	return parts
}

// signal puts a value into a channel that holds one, unless one is there already.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
