package medics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// hungAfter is the time after which a session counts as hung. Faults are injected all the time, so it is much longer
// than the delay of any single fault.
const hungAfter = 2 * time.Minute

// end is the outcome of one session.
type end struct {
	analysis string
	from, to time.Time
	err      error // nil: the answer is the oracle's
	wrong    bool
}

// hung reports that the client got no outcome, however long it waited.
func (e *end) hung() bool {
	return errors.Is(e.err, context.DeadlineExceeded) || errors.Is(e.err, client.ErrNoCluster)
}

// inWords reports that the session failed with a reason. When the whole machine is restored, no node is left that knows
// the reason.
func (e *end) inWords() bool {
	return errors.Is(e.err, protocol.ErrFailed) ||
		errors.Is(e.err, protocol.ErrUnknownSession) && strings.Contains(e.err.Error(), "the node lost its data") &&
			strings.Contains(e.err.Error(), "run it again")
}

// sessions run all the time, one of each job after the other. Their outcomes are checked at the end.
type sessions struct {
	t       *testing.T
	entries []string
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu   sync.Mutex
	ends []end
}

func beginSessions(t *testing.T, topo *topology.Topology, jobs []clustertest.Job) *sessions {
	ctx, stop := context.WithCancel(t.Context())
	s := &sessions{t: t, entries: append(topo.EntryPoints(), topo.Outputs()...), stop: stop}
	for _, j := range jobs {
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			for ctx.Err() == nil {
				s.run(j)
			}
		}()
	}
	t.Cleanup(func() { stop(); s.wg.Wait() })
	return s
}

// run runs one session to its end, even if no more may begin meanwhile.
func (s *sessions) run(j clustertest.Job) {
	ctx, cancel := context.WithTimeout(context.Background(), hungAfter)
	defer cancel()
	e := end{analysis: j.Analysis, from: time.Now()}
	a, err := client.Run(ctx, client.Config{Entries: s.entries, Analysis: j.Analysis, Plan: j.Plan, Dir: j.Dir, GiveUpAfter: hungAfter})
	e.to, e.err = time.Now(), err
	if got := []byte(nil); err == nil {
		if got = clustertest.Answer(s.t, a); !bytes.Equal(got, j.Want) {
			e.wrong, e.err = true, fmt.Errorf("another answer than the oracle's: %.300s", got)
		}
	}
	s.mu.Lock()
	s.ends = append(s.ends, e)
	s.mu.Unlock()
}

// finish waits for the sessions that are under way and returns all ends.
func (s *sessions) finish() []end {
	s.stop()
	s.wg.Wait()
	return s.ends
}
