package console

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"strings"
	"sync"
	"time"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/protocol/session"
)

// Bounds of the questions and answers that are kept (R16).
const (
	maxRunning = 4 // at most this many questions run at a time, and at most as many fetches of a session's answers
	// worksKept bounds running and ended works together. The ended work that nobody has looked at for the longest time is dropped first. There
	// is room for one work of each live page: with less room, the pages of many sessions would drop each other's answers, and fetch them again
	// and again.
	worksKept  = maxWatchers + 24
	notesKept  = 20 // remarks kept of one work
	retryLooks = 5  // looks at the cluster between two tries to fetch answers
)

var (
	errManyRunning = errors.New("four questions are being answered already; wait for one of them, or cancel it")
	errCancelled   = errors.New("cancelled")
)

// work is a question that is being answered, or a session's answers that are being fetched. Several browsers may look at it.
type work struct {
	key, text string // text is the statement; empty for the answers of a session
	began     time.Time
	cancel    context.CancelCauseFunc
	looked    uint64 // value of works.looks when a page last showed this work; guarded by the mutex of works

	mu       sync.Mutex // guards the fields below
	progress client.Progress
	first    map[string]time.Time // when the first bytes of each stream were read
	notes    []string
	took     time.Duration
	done     bool
	problem  *problem
	result   template.HTML
}

// works are the questions of one console.
type works struct {
	life context.Context
	now  func() time.Time

	mu      sync.Mutex
	all     []*work // oldest first
	looks   uint64  // how many times pages have looked at works
	running sync.WaitGroup
}

// begin starts a work in its own goroutine, which wait awaits. It returns errManyRunning if there is no room.
func (k *works) begin(key, text string, do func(context.Context, *work) (template.HTML, error)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	running, oldest := 0, -1
	for i, w := range k.all {
		switch {
		case !w.ended():
			if (w.text == "") == (text == "") { // counted separately, so that pages that fetch answers do not keep people from asking
				running++
			}
		case oldest < 0 || w.looked < k.all[oldest].looked:
			oldest = i
		}
	}
	if running >= maxRunning || k.life.Err() != nil {
		return errManyRunning
	}
	k.looks++
	if len(k.all) >= worksKept { // at least one of them has ended, because fewer run than are kept
		k.all = append(k.all[:oldest], k.all[oldest+1:]...)
	}
	ctx, cancel := context.WithCancelCause(k.life)
	w := &work{key: key, text: text, began: k.now(), cancel: cancel, looked: k.looks, first: map[string]time.Time{}}
	k.all = append(k.all, w)
	k.running.Go(func() {
		defer cancel(nil)
		result, err := guarded(ctx, w, do)
		if ctx.Err() != nil && err != nil {
			err = context.Cause(ctx)
		}
		w.end(k.now(), result, err)
	})
	return nil
}

// guarded turns a panic into an error, as net/http does for its handlers. A bug in the code that shows an answer must not end the console,
// because the console still has to end lasting faults.
func guarded(ctx context.Context, w *work, do func(context.Context, *work) (template.HTML, error)) (result template.HTML, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this is a bug of posta: %v", p)
		}
	}()
	return do(ctx, w)
}

// find returns a work that a page is about to show.
func (k *works) find(key string) *work {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.looks++
	for _, w := range k.all {
		if w.key == key {
			w.looked = k.looks
			return w
		}
	}
	return nil
}

// forget drops a work that has ended.
func (k *works) forget(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, w := range k.all {
		if w.key == key && w.ended() {
			k.all = append(k.all[:i], k.all[i+1:]...)
			return
		}
	}
}

// seen returns what pages show of all works, the newest first.
func (k *works) seen() (all []workSeen) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := len(k.all) - 1; i >= 0; i-- {
		all = append(all, k.all[i].seen(k.now()))
	}
	return all
}

// wait waits for all works. Their context must have ended before.
func (k *works) wait() { k.running.Wait() }

func (w *work) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

func (w *work) end(now time.Time, result template.HTML, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done, w.took, w.result = true, now.Sub(w.began), result
	if err != nil {
		w.problem = problemOf(err)
	}
}

// show returns the Progress to which a client reports progress and remarks.
func (w *work) show() *display.Progress { return &display.Progress{Told: w.update, Said: w.say} }

func (w *work) update(p client.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress = p
	for _, s := range p.Streams {
		if _, known := w.first[s.Name]; !known && s.Read > 0 {
			w.first[s.Name] = time.Now()
		}
	}
}

func (w *work) say(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if line = clean(strings.TrimSuffix(line, "\n")); line != "" && len(w.notes) < notesKept {
		w.notes = append(w.notes, line)
	}
}

// workSeen is the state of a work at one moment.
type workSeen struct {
	Key, Text, Statement string
	State                string
	Sign                 sign
	Running              bool
	Session              string // the session that computes it; "" if there is none
	Took                 string
	Streams              []streamRow
	Notes                []string
	Problem              *problem
	Result               template.HTML
	failedAgo            time.Duration
}

// streamRow is the progress of a stream. Percent is below 0 if the stream's size is not known.
type streamRow struct {
	Name, Text string
	Percent    int
}

func (w *work) seen(now time.Time) workSeen {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := workSeen{Key: w.key, Text: w.text, Statement: clip(clean(w.text), statementShown), Running: !w.done,
		Notes: append([]string(nil), w.notes...), Problem: w.problem, Result: w.result}
	if w.progress.Session != (session.ID{}) {
		s.Session = w.progress.Session.String()
	}
	switch {
	case !w.done:
		s.State, s.Sign, s.Took = string(w.progress.State), care, age(now.Sub(w.began))
		if s.State == "" {
			s.State = "reading the statement and samples of the files"
		}
	case w.problem != nil && s.Session == "":
		s.State, s.Sign, s.failedAgo = "not run", dead, now.Sub(w.began.Add(w.took))
	case w.problem != nil:
		s.State, s.Sign, s.Took, s.failedAgo = "failed", dead, display.Span(w.took), now.Sub(w.began.Add(w.took))
	default:
		s.State, s.Sign, s.Took = "answered", fine, display.Span(w.took)
	}
	for _, p := range w.progress.Streams {
		s.Streams = append(s.Streams, streamRowOf(&p, now.Sub(w.first[p.Name])))
	}
	return s
}

// streamRowOf returns the progress of a stream. since is how long ago its first bytes were read.
func streamRowOf(p *client.StreamProgress, since time.Duration) streamRow {
	r := streamRow{Name: clean(p.Name), Percent: -1}
	switch {
	case p.Ended:
		r.Percent, r.Text = 100, fmt.Sprintf("%s of %s, all of it", size(uint64(max(0, p.Read))), units.Plural(p.Files, "file"))
		return r
	case p.Total > 0:
		r.Percent = int(min(99, 100*float64(p.Read)/float64(p.Total)))
		r.Text = fmt.Sprintf("%s of %s", size(uint64(max(0, p.Read))), size(uint64(p.Total)))
	default:
		r.Text = size(uint64(max(0, p.Read)))
	}
	if p.Read > 0 && since >= time.Second {
		rate := float64(p.Read) / since.Seconds()
		r.Text += ", " + bytesPerSecond(rate)
		if p.Total > p.Read {
			r.Text += ", about " + display.ETA(time.Duration(min(float64(p.Total-p.Read)/rate, 1e6)*float64(time.Second))) + " left"
		}
	}
	return r
}

// problem is an error. For a wrong statement it holds the position in the statement.
type problem struct {
	Message, Hint string
	Line, Column  int
	Excerpt       string // the line of the statement; empty if the problem is not in the statement
	Caret         string
}

func problemOf(err error) *problem {
	var wrong *syntax.Error
	if errors.As(err, &wrong) {
		return &problem{clean(wrong.Message), clean(wrong.Hint), wrong.Line, wrong.Column, lines(wrong.Excerpt), wrong.Caret}
	}
	return &problem{Message: lines(err.Error())}
}

// lines makes a text of several lines fit for a page.
func lines(text string) string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = clean(strings.ReplaceAll(all[i], "\t", " "))
	}
	return strings.Join(all[:min(len(all), notesKept)], "\n")
}
