package medic

import (
	"context"
	"errors"
	"sync"
	"time"
)

// EventKind says what happened to a node.
type EventKind string

// What a supervisor reports.
const (
	Started EventKind = "started"
	Adopted EventKind = "adopted" // its process ran before the supervisor was started
	Died    EventKind = "died"
	Failed  EventKind = "could not be started"
)

// Event is one thing that happened to a node under supervision.
type Event struct {
	At     time.Time
	Node   NodeID
	Kind   EventKind
	Start  int           // with Started, Adopted: how many starts there were
	Cause  string        // with Died, Failed
	InARow int           // with Died, Failed: how many in a row, each sooner than Backoff.Healthy
	Wait   time.Duration // with Died, Failed: until the next start
}

// Supervisor starts nodes, and starts them again at once when they die.
type Supervisor struct {
	Restarter Restarter
	Nodes     []NodeID
	Backoff   Backoff
	Report    func(Event) // one at a time, from Run's goroutine; nil for nobody
}

// Run supervises until ctx ends, and returns when all its goroutines have ended. The nodes continue to run: Stop ends them.
func (s *Supervisor) Run(ctx context.Context) {
	run := &supervision{Supervisor: s, roster: NewRoster(s.Backoff, s.Nodes), events: make(chan Event)}
	defer run.watchers.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	run.run(ctx)
}

// supervision is one Run. Its goroutine owns the roster; watchers, one for each node that is being started or runs, send it events.
type supervision struct {
	*Supervisor
	roster   *Roster
	events   chan Event
	watchers sync.WaitGroup
}

func (s *supervision) run(ctx context.Context) {
	for {
		for _, node := range s.roster.Due(time.Now()) {
			s.watchers.Add(1)
			go func() {
				defer s.watchers.Done()
				s.watch(ctx, node)
			}()
		}
		var due <-chan time.Time
		if next, some := s.roster.Next(); some {
			due = time.After(time.Until(next))
		}
		select {
		case e := <-s.events:
			s.take(e)
		case <-due:
		case <-ctx.Done():
			return
		}
	}
}

func (s *supervision) take(e Event) {
	switch e.Kind {
	case Started, Adopted:
		e.Start = s.roster.Started(e.Node, e.At)
	case Died, Failed:
		e.Wait, e.InARow = s.roster.Died(e.Node, e.At)
	}
	if s.Report != nil {
		s.Report(e)
	}
}

// watch starts a node and waits until its process has ended. A start that hangs delays no other node.
func (s *supervision) watch(ctx context.Context, node NodeID) {
	switch err := s.Restarter.Start(ctx, node); {
	case errors.Is(err, ErrRunning):
		s.tell(ctx, Event{Node: node, Kind: Adopted})
	case err != nil:
		s.tell(ctx, Event{Node: node, Kind: Failed, Cause: err.Error()})
		return
	default:
		s.tell(ctx, Event{Node: node, Kind: Started})
	}
	death, err := s.Restarter.Wait(ctx, node)
	cause := death.String()
	if err != nil { // the next Start finds out whether it is alive: ErrRunning, and it is adopted again
		cause = err.Error()
	}
	if ctx.Err() == nil {
		s.tell(ctx, Event{Node: node, Kind: Died, Cause: cause})
	}
}

func (s *supervision) tell(ctx context.Context, e Event) {
	e.At = time.Now()
	select {
	case s.events <- e:
	case <-ctx.Done():
	}
}
