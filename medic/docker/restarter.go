package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"posta.dev/posta/medic"
)

// Config says which containers belong to the cluster.
type Config struct {
	// Cluster is the value of the label posta.cluster.
	Cluster string
	// Call bounds each call to the engine, default 4s. If it is short, a busy engine counts as hung and is asked again; if it is long, a
	// single lost answer takes all the time of an order.
	Call time.Duration
}

// Restarter kills and starts containers. Several Restarters, in several processes, may use one engine if they hold a common lock when they
// start and kill (package host); looking needs no lock.
type Restarter struct {
	cfg    Config
	engine *engine

	ids  sync.Map // by node, the id of the container that was found last
	seen processes
}

// New does not contact the engine, which may not run yet. It reads the engine's address from DOCKER_HOST, like other clients. The caller
// closes the Restarter.
func New(cfg Config) (*Restarter, error) {
	if cfg.Call <= 0 {
		cfg.Call = 4 * time.Second
	}
	e, err := newEngine(cfg.Call)
	if err != nil {
		return nil, err
	}
	return &Restarter{cfg: cfg, engine: e}, nil
}

// Close closes the connection to the engine; containers continue to run.
func (r *Restarter) Close() error { return r.engine.api.Close() }

// Start implements medic.Restarter.
func (r *Restarter) Start(ctx context.Context, node medic.NodeID) error {
	c, err := r.look(ctx, node)
	if err != nil {
		return fmt.Errorf("start %s: %w", node, err)
	}
	if c.State.Running {
		return fmt.Errorf("start %s: %w", node, medic.ErrRunning)
	}
	if err := r.attach(ctx, node, &c); err != nil {
		return fmt.Errorf("start %s: %w", node, err)
	}
	return r.start(ctx, node, c.ID, c.State.StartedAt)
}

// start starts a container that does not run. A changed start time shows that the container was started: a call without an answer may have
// been carried out. The process may have ended again already; its missing heartbeats will show that.
func (r *Restarter) start(ctx context.Context, node medic.NodeID, id, before string) error {
	for {
		err := r.change(ctx, node, "start "+string(node), func(ctx context.Context) error {
			return r.engine.api.ContainerStart(ctx, id, container.StartOptions{}) // the client does not report "304, it runs already" as an error
		}, func(now *container.InspectResponse) bool {
			return now.ID == id && (now.State.Running || now.State.StartedAt != before)
		})
		if err == nil {
			return nil
		}
		if !noAnswer(err) {
			return fmt.Errorf("%w%s", err, advice(err))
		}
		if stop := medic.Sleep(ctx, medic.AskAgain); stop != nil {
			return fmt.Errorf("%w; the engine does not answer, see `docker info`", err)
		}
	}
}

// advice returns what to do about an engine that refuses to start.
func advice(err error) string {
	switch {
	case cerrdefs.IsNotFound(err):
		return "; the container, or what it needs, was removed: create it with `docker-compose up --no-start`"
	case cerrdefs.IsConflict(err):
		return "; another client is changing the container now"
	}
	return ""
}

// Terminate implements medic.Restarter. The engine's own "stop" is not used: it waits, and kills.
func (r *Restarter) Terminate(ctx context.Context, node medic.NodeID) error {
	return r.Signal(ctx, node, "")
}

// Signal sends the node's process a signal, like "SIGSTOP"; "" is the signal that stops its container. It is not an error if there is no
// process.
func (r *Restarter) Signal(ctx context.Context, node medic.NodeID, signal string) error {
	c, err := r.look(ctx, node)
	if err != nil {
		return ignoreAbsent(err)
	}
	return r.signal(ctx, node, &c, signal)
}

func (r *Restarter) signal(ctx context.Context, node medic.NodeID, c *container.InspectResponse, signal string) error {
	if !c.State.Running {
		return nil
	}
	if c.State.Paused {
		if err := r.unpause(ctx, node, c.ID); err != nil {
			return err
		}
	}
	signal = cmp.Or(signal, c.Config.StopSignal, "SIGTERM")
	err := r.engine.do(ctx, fmt.Sprintf("send %s to %s", signal, node), func(ctx context.Context) error {
		return r.engine.api.ContainerKill(ctx, c.ID, signal)
	})
	if cerrdefs.IsNotFound(err) || cerrdefs.IsConflict(err) {
		if now, lookErr := r.look(ctx, node); errors.Is(lookErr, ErrNoContainer) || lookErr == nil && (!now.State.Running || now.ID != c.ID) {
			return nil // gone meanwhile
		}
	}
	return err
}

func (r *Restarter) unpause(ctx context.Context, node medic.NodeID, id string) error {
	err := r.engine.do(ctx, "unpause "+string(node), func(ctx context.Context) error {
		return r.engine.api.ContainerUnpause(ctx, id)
	})
	if err == nil || noAnswer(err) { // the next look shows whether it was done
		return nil
	}
	if now, lookErr := r.look(ctx, node); lookErr == nil && !now.State.Paused {
		return nil
	}
	return err
}

// Kill implements medic.Restarter. It inspects the container after each call, and does not rely on the call's result.
func (r *Restarter) Kill(ctx context.Context, node medic.NodeID) error {
	var last error // why the container still runs
	for {
		c, err := r.look(ctx, node)
		switch {
		case errors.Is(err, ErrNoContainer), err == nil && !c.State.Running:
			return nil
		case err == nil:
			last = r.signal(ctx, node, &c, "SIGKILL")
		case noAnswer(err):
			last = errors.Join(last, err)
		default:
			return fmt.Errorf("kill %s: %w", node, err)
		}
		if last == nil && r.wait(ctx, node, c.ID) == nil {
			return nil
		}
		if stop := medic.Sleep(ctx, medic.AskAgain); stop != nil {
			return fmt.Errorf("kill %s: %w: %w; the engine does not end it, see `docker info`", node, medic.ErrStillThere, errors.Join(last, stop))
		}
		last = nil
	}
}

// Alive implements medic.Restarter.
func (r *Restarter) Alive(ctx context.Context, node medic.NodeID) (bool, error) {
	c, err := r.look(ctx, node)
	if err != nil {
		return false, ignoreAbsent(err)
	}
	return c.State.Running, nil
}

// Pid returns the node's process in the pid namespace of the engine's machine, 0 if there is none. In the container it has another number,
// mostly 1.
func (r *Restarter) Pid(node medic.NodeID) (int, error) {
	c, err := r.look(context.Background(), node) // each call has its deadline
	if err != nil {
		return 0, ignoreAbsent(err)
	}
	if !c.State.Running {
		return 0, nil
	}
	return c.State.Pid, nil
}

// Wait implements medic.Restarter.
func (r *Restarter) Wait(ctx context.Context, node medic.NodeID) (medic.Death, error) {
	for {
		c, err := r.look(ctx, node)
		switch {
		case errors.Is(err, ErrNoContainer):
			return medic.Death{Cause: "its container was removed"}, nil
		case err == nil && !c.State.Running:
			return deathOf(c.State), nil
		case err == nil:
			if r.wait(ctx, node, c.ID) == nil {
				continue // the next look finds how it ended
			}
		case !noAnswer(err):
			return medic.Death{}, fmt.Errorf("wait for %s: %w", node, err)
		}
		if stop := medic.Sleep(ctx, medic.AskAgain); stop != nil {
			return medic.Death{}, stop
		}
	}
}

// wait returns nil when the container does not run, and an error after the deadline of a call: the engine may have forgotten the call.
func (r *Restarter) wait(ctx context.Context, node medic.NodeID, id string) error {
	return r.engine.do(ctx, "wait for "+string(node), func(ctx context.Context) error {
		results, errs := r.engine.api.ContainerWait(ctx, id, container.WaitConditionNotRunning)
		select { // the client's goroutine sends to one of them, at the latest when ctx ends
		case <-results:
			return nil
		case err := <-errs:
			return err
		}
	})
}
