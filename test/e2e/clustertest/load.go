package clustertest

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/client"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/security"
	"posta.dev/posta/test/e2e/truth"
	"posta.dev/posta/topology"
)

// Job is an analysis to run again and again, and its answer.
type Job struct {
	Analysis, Dir string
	Plan          []byte      // of a statement
	Asked         *split.Plan // the statement, before its first pass
	Want          []byte      // as Answer makes it
}

// generators are where the data of an analysis comes from.
var generators = map[string]func(gen.Dir, int, uint64) error{
	"bikes": gen.Bikes, "flights": gen.Flights, "movies": gen.Movies, "memes": gen.Memes,
}

// Make generates so many facts for an analysis; the answer is the oracle's.
func Make(t *testing.T, analysis string, rows int) Job {
	t.Helper()
	dir := t.TempDir()
	if err := generators[analysis](gen.OnDisk(dir), rows, 7); err != nil {
		t.Fatal(err)
	}
	right, err := truth.JSON(analysis, dir)
	if err != nil {
		t.Fatal(err)
	}
	return Job{Analysis: analysis, Dir: dir, Want: Answer(t, right)}
}

// Bikes is so many generated trips.
func Bikes(t *testing.T, rows int) Job { t.Helper(); return Make(t, "bikes", rows) }

// EveryAnalysis returns a job of each analysis, about as long as one of so many trips.
func EveryAnalysis(t *testing.T, rows int) []Job {
	t.Helper()
	return []Job{Make(t, "bikes", rows), Make(t, "flights", rows/4), Make(t, "movies", rows/4), Make(t, "memes", rows/2)}
}

// Load runs analyses, one of each job at a time, until it is told to end; each answer has to be right to the last byte.
type Load struct {
	t       *testing.T
	entries []string
	keys    *security.Keys
	jobs    []string // their analyses
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu   sync.Mutex
	done map[string]int
}

// Begin starts a load, which ends with the test at the latest.
func Begin(t *testing.T, topo *topology.Topology, jobs ...Job) *Load {
	t.Helper()
	return BeginWithKeys(t, topo, nil, jobs...)
}

// BeginWithKeys is Begin in a cluster with keys. These are the client's.
func BeginWithKeys(t *testing.T, topo *topology.Topology, keys *security.Keys, jobs ...Job) *Load {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	l := &Load{t: t, keys: keys, stop: stop, done: map[string]int{}}
	for _, n := range append(topo.Holding(topology.Input), topo.Holding(topology.Output)...) {
		l.entries = append(l.entries, client.NamedEndpoint(n.Sockets.Client.Dial, string(n.ID)))
	}
	for _, j := range jobs {
		l.jobs = append(l.jobs, j.Analysis)
		l.wg.Add(1)
		go func() {
			defer l.wg.Done()
			for ctx.Err() == nil {
				l.analyse(j)
			}
		}()
	}
	t.Cleanup(func() { stop(); l.wg.Wait() })
	return l
}

// analyse runs to the end even when the load is over: an analysis in flight must finish.
func (l *Load) analyse(j Job) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	a, err := client.Run(ctx, client.Config{Entries: l.entries, Keys: l.keys, Analysis: j.Analysis, Plan: j.Plan, Dir: j.Dir})
	if err != nil {
		l.t.Errorf("%s: an analysis failed: %v", j.Analysis, err)
		l.stop()
		return
	}
	if got := Answer(l.t, a); !bytes.Equal(got, j.Want) {
		l.t.Errorf("%s: D1: an answer differs: %.300s", j.Analysis, got)
		l.stop()
	}
	l.mu.Lock()
	l.done[j.Analysis]++
	l.mu.Unlock()
}

// More waits until each analysis has been run that many times more, or the test has failed.
func (l *Load) More(n int) {
	l.t.Helper()
	goal := map[string]int{}
	for _, job := range l.jobs {
		goal[job] = l.Of(job) + n
	}
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end) && !l.t.Failed(); time.Sleep(50 * time.Millisecond) {
		if !slices.ContainsFunc(l.jobs, func(job string) bool { return l.Of(job) < goal[job] }) {
			return
		}
	}
	if !l.t.Failed() {
		l.t.Fatalf("analyses come to no end: %d have", l.Done())
	}
}

// Done returns how many analyses have ended so far.
func (l *Load) Done() (all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.done {
		all += n
	}
	return all
}

// Of returns how many of them were of one analysis.
func (l *Load) Of(analysis string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done[analysis]
}

// End waits for the analyses in flight and returns how many there were.
func (l *Load) End() int {
	l.stop()
	l.wg.Wait()
	return l.Done()
}

// Answer returns the part of an answer that does not depend on the session.
func Answer(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	var parts struct{ Queries, Rejected json.RawMessage }
	if err == nil {
		err = json.Unmarshal(b, &parts)
	}
	if err != nil {
		t.Errorf("an answer is not JSON: %v", err)
	}
	return append(append(parts.Queries, '\n'), parts.Rejected...)
}
