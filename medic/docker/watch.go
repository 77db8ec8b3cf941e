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

// processes holds what the engine's events have reported about processes. It answers at once, without a call.
type processes struct {
	pids sync.Map // by node; 0: the node has no process; absent: unknown
}

// errUnseen is returned for a node whose state is unknown: there are no events from the engine, or it knows no such container.
var errUnseen = errors.New("the engine has not reported it")

// Pid implements medic.Pids.
func (p *processes) Pid(node medic.NodeID) (int, error) {
	pid, known := p.pids.Load(node)
	if !known {
		return 0, fmt.Errorf("look for the process of %s: %w", node, errUnseen)
	}
	return pid.(int), nil
}

// Seen implements medic.Watcher.
func (r *Restarter) Seen() medic.Pids { return &r.seen }

// Times of a watch. A node without a process is inspected again soon: if the event of its start was lost, the watch would give a hint about
// a process that is alive.
const (
	reconnect   = 500 * time.Millisecond
	checkGone   = time.Second
	checkAll    = 10 * time.Second
	checkAtOnce = 0
)

// Watch implements medic.Watcher.
func (r *Restarter) Watch(ctx context.Context) {
	for ctx.Err() == nil {
		r.watch(ctx)
		r.seen.pids.Clear() // without events nothing is known
		_ = medic.Sleep(ctx, reconnect)
	}
}

// watch follows one stream of events until it breaks. The stream begins before the first look, so that no event is missed between them.
func (r *Restarter) watch(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var messages <-chan events.Message
	var errs <-chan error
	err := r.engine.do(ctx, "listen to the engine", func(short context.Context) error {
		stop := context.AfterFunc(short, cancel) // if the call succeeds, its stream must outlive the deadline of the call
		messages, errs = r.engine.api.Events(ctx, events.ListOptions{Filters: filters.NewArgs(
			filters.Arg("type", string(events.ContainerEventType)), filters.Arg("label", LabelCluster+"="+r.cfg.Cluster),
			filters.Arg("event", string(events.ActionStart)), filters.Arg("event", string(events.ActionDie)),
			filters.Arg("event", string(events.ActionDestroy)),
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
			r.handleEvent(ctx, m)
			check.Reset(checkGone)
		case <-errs:
			return
		case <-ctx.Done():
			return
		case <-check.C:
			gone, err := r.lookAtAll(ctx)
			if err != nil {
				return // events of an engine that does not answer are not trusted
			}
			if gone {
				check.Reset(checkGone)
			} else {
				check.Reset(checkAll)
			}
		}
	}
}

// handleEvent handles an event. An end is noted at once, because hints have to be fast; after any other event the container is inspected.
func (r *Restarter) handleEvent(ctx context.Context, m events.Message) {
	node := medic.NodeID(m.Actor.Attributes[LabelNode])
	if node == "" || m.Actor.Attributes[labelOneOff] == "True" {
		return
	}
	if m.Action == events.ActionDie && m.Actor.ID == r.known(node) {
		r.seen.pids.Store(node, 0)
		return
	}
	r.lookAt(ctx, node)
}

func (r *Restarter) lookAt(ctx context.Context, node medic.NodeID) {
	c, err := r.look(ctx, node)
	switch {
	case err != nil:
		r.seen.pids.Delete(node)
	case c.State.Running:
		r.seen.pids.Store(node, c.State.Pid)
	default:
		r.seen.pids.Store(node, 0)
	}
}

// lookAtAll inspects all containers, and reports whether one of them does not run.
func (r *Restarter) lookAtAll(ctx context.Context) (gone bool, err error) {
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
