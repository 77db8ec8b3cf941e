package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"posta.dev/posta/medic"
)

// Labels of containers.
const (
	LabelCluster = "posta.cluster"
	LabelNode    = "posta.node"

	labelOneOff  = "com.docker.compose.oneoff"  // "True": created by `compose run` with a service's labels; not a node
	labelService = "com.docker.compose.service" // the name under which compose makes the container known in the network
)

// look inspects the node's container. It first asks for the container that was found last. If that one is gone it searches, because compose
// may have created another one.
func (r *Restarter) look(ctx context.Context, node medic.NodeID) (c container.InspectResponse, err error) {
	for range 2 {
		id := r.known(node)
		if id == "" {
			if id, err = r.find(ctx, node); err != nil {
				return c, err
			}
		}
		c, err = r.inspect(ctx, node, id)
		if err == nil && !c.State.Running {
			return r.newest(ctx, node, c)
		}
		if !cerrdefs.IsNotFound(err) {
			return c, err
		}
		r.ids.CompareAndDelete(node, id)
	}
	return c, noContainer(node, r.cfg.Cluster)
}

func (r *Restarter) inspect(ctx context.Context, node medic.NodeID, id string) (c container.InspectResponse, err error) {
	what := "look at the container of " + string(node)
	err = r.engine.do(ctx, what, func(ctx context.Context) (err error) {
		c, err = r.engine.api.ContainerInspect(ctx, id)
		return err
	})
	if err == nil && (c.ContainerJSONBase == nil || c.State == nil || c.Config == nil) {
		err = fmt.Errorf("%s: the engine's answer has no state", what)
	}
	return c, err
}

// change makes a call that changes the node's container. If the call fails, the container is inspected, because the call may have been
// carried out.
func (r *Restarter) change(ctx context.Context, node medic.NodeID, what string, call func(context.Context) error,
	done func(*container.InspectResponse) bool,
) error {
	err := r.engine.do(ctx, what, call)
	if err == nil {
		return nil
	}
	if now, lookErr := r.look(ctx, node); lookErr == nil && done(&now) {
		return nil
	}
	return err
}

// newest searches for a newer container of the node when the known one does not run. A rolling update creates the new container before the
// old one stops, so a start in between must find the new one.
func (r *Restarter) newest(ctx context.Context, node medic.NodeID, old container.InspectResponse) (container.InspectResponse, error) {
	id, err := r.find(ctx, node)
	if err != nil || id == old.ID {
		return old, ignoreAbsent(err)
	}
	c, err := r.inspect(ctx, node, id)
	if err != nil {
		r.ids.CompareAndDelete(node, id)
		return old, nil // the known container exists, so returning it is right; the next look may find the newer one
	}
	return c, nil
}

func noContainer(node medic.NodeID, cluster string) error {
	return fmt.Errorf(
		"%w: %s of cluster %s has none (labels %s=%[3]s, %s=%[2]s); create it with `docker-compose up --no-start`; medics then start it",
		ErrNoContainer, node, cluster, LabelCluster, LabelNode)
}

// find searches by labels. When Compose replaces a container a service has two of them for a moment: the running one counts, else the newer
// one.
func (r *Restarter) find(ctx context.Context, node medic.NodeID) (id string, err error) {
	all, err := r.list(ctx, filters.Arg("label", LabelNode+"="+string(node)))
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", noContainer(node, r.cfg.Cluster)
	}
	slices.SortFunc(all, func(a, b container.Summary) int {
		if x, y := isRunning(a), isRunning(b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Created, a.Created)
	})
	if len(all) > 1 && isRunning(all[1]) {
		return "", fmt.Errorf("%w: %s has %.12s and %.12s, which both run; remove one of them", ErrDuplicate, node, all[0].ID, all[1].ID)
	}
	r.ids.Store(node, all[0].ID)
	return all[0].ID, nil
}

func isRunning(c container.Summary) bool { return c.State == container.StateRunning }

// list returns the containers of the cluster in any state.
func (r *Restarter) list(ctx context.Context, more ...filters.KeyValuePair) (all []container.Summary, err error) {
	by := filters.NewArgs(append(more, filters.Arg("label", LabelCluster+"="+r.cfg.Cluster))...)
	err = r.engine.do(ctx, "look for containers of cluster "+r.cfg.Cluster, func(ctx context.Context) (err error) {
		all, err = r.engine.api.ContainerList(ctx, container.ListOptions{All: true, Filters: by})
		return err
	})
	return slices.DeleteFunc(all, func(c container.Summary) bool { return c.Labels[labelOneOff] == "True" }), err
}

// known returns the node's container that was found last; "" if none was found, or that one is gone.
func (r *Restarter) known(node medic.NodeID) string {
	id, _ := r.ids.Load(node)
	name, _ := id.(string)
	return name
}

// ignoreAbsent drops the error that there is no container, for calls that need none.
func ignoreAbsent(err error) error {
	if errors.Is(err, ErrNoContainer) {
		return nil
	}
	return err
}
