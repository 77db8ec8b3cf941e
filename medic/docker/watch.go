package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"

	"posta.dev/posta/medic"
)

// sight is what the engine's events tell of processes. It answers at once and asks nobody.
type sight struct {
	mu   sync.Mutex
	pids map[medic.NodeID]int // 0: there is none; nothing: not known
}

// errUnseen is returned for whoever cannot be seen: the engine is not heard, or knows no such container.
var errUnseen = errors.New("the engine does not tell")

// Pid implements medic.Pids.
func (s *sight) Pid(node medic.NodeID) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pid, known := s.pids[node]
	if !known {
		return 0, fmt.Errorf("look for the process of %s: %w", node, errUnseen)
	}
	return pid, nil
}

func (s *sight) set(node medic.NodeID, pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pids == nil {
		s.pids = map[medic.NodeID]int{}
	}
	s.pids[node] = pid
}

func (s *sight) lose(node medic.NodeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pids, node)
}

// clear forgets everything: what is not seen any more is no hint.
func (s *sight) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pids = nil
}

// Seen implements medic.Watcher.
func (r *Restarter) Seen() medic.Pids { return &r.seen }

// Times of a watch. Somebody who is gone is looked at again soon: a lost event would leave a hint about a living process standing.
const (
	reconnect   = 500 * time.Millisecond
	checkGone   = time.Second
	checkAll    = 10 * time.Second
	checkAtOnce = 0
)

// Watch implements medic.Watcher.
func (r *Restarter) Watch(ctx context.Context) {
	defer r.seen.clear()
	for ctx.Err() == nil {
		r.watch(ctx)
		r.seen.clear()
		select {
		case <-time.After(reconnect):
		case <-ctx.Done():
		}
	}
}

// watch lives as long as one stream of events. The stream is there before the first look, so that nothing happens between them.
func (r *Restarter) watch(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var messages <-chan events.Message
	var errs <-chan error
	err := r.engine.do(ctx, "listen to the engine", func(short context.Context) error {
		stop := context.AfterFunc(short, cancel) // a stream outlives the call that begins it, if that call comes back
		messages, errs = r.engine.api.Events(ctx, events.ListOptions{Filters: filters.NewArgs(
			filters.Arg("type", string(events.ContainerEventType)), filters.Arg("label", LabelCluster+"="+r.cfg.Cluster),
			filters.Arg("event", string(events.ActionStart)), filters.Arg("event", string(events.ActionDie)), filters.Arg("event", string(events.ActionDestroy)),
		)})
		if !stop() {
			return context.DeadlineExceeded
		}
		return nil
	})
	if messages != nil {
		defer func() { // the client's goroutine is awaited
			cancel()
			for range errs {
			}
		}()
	}
	if err != nil {
		return
	}
	r.follow(ctx, messages, errs)
}

func (r *Restarter) follow(ctx context.Context, messages <-chan events.Message, errs <-chan error) {
	check := time.NewTimer(checkAtOnce)
	defer check.Stop()
	for {
		select {
		case m := <-messages:
			r.happened(ctx, m)
			check.Reset(checkGone)
		case <-errs:
			return
		case <-ctx.Done():
			return
		case <-check.C:
			gone, err := r.lookAround(ctx)
			if err != nil {
				return // an engine that does not answer is not believed either
			}
			if gone {
				check.Reset(checkGone)
			} else {
				check.Reset(checkAll)
			}
		}
	}
}

// happened takes an event. An end is believed at once, for it is what the hint is for; whatever else happened is looked at.
func (r *Restarter) happened(ctx context.Context, m events.Message) {
	node := medic.NodeID(m.Actor.Attributes[LabelNode])
	if node == "" || m.Actor.Attributes[labelOneOff] == "True" {
		return
	}
	if m.Action == events.ActionDie && m.Actor.ID == r.known(node) {
		r.seen.set(node, 0)
		return
	}
	r.lookAt(ctx, node)
}

func (r *Restarter) lookAt(ctx context.Context, node medic.NodeID) {
	c, err := r.look(ctx, node)
	switch {
	case err != nil:
		r.seen.lose(node)
	case c.State.Running:
		r.seen.set(node, c.State.Pid)
	default:
		r.seen.set(node, 0)
	}
}

// lookAround looks at everybody, and says whether somebody is gone.
func (r *Restarter) lookAround(ctx context.Context) (gone bool, err error) {
	all, err := r.list(ctx)
	if err != nil {
		return false, err
	}
	for _, c := range all {
		node := medic.NodeID(c.Labels[LabelNode])
		was, err := r.seen.Pid(node)
		running := c.State == container.StateRunning
		if err != nil || running != (was != 0) {
			r.lookAt(ctx, node)
		}
		gone = gone || !running
	}
	return gone, nil
}
