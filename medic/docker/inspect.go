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

	labelOneOff  = "com.docker.compose.oneoff"  // "True": made by `compose run` from a service's labels, and no node
	labelService = "com.docker.compose.service" // the name that compose lets others dial
)

// look says what is true of the node's container now. It asks for the container that was found last, and searches when that one is gone:
// compose may have made another.
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

// change makes a call that changes the node's container. If it fails, the container is looked at: the call may have been
// carried out all the same.
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

// newest looks whether the node has another container by now, when the one that is known does not run. A replacement of a
// node makes the new container before the old one stops, so a start meanwhile starts the right one.
func (r *Restarter) newest(ctx context.Context, node medic.NodeID, old container.InspectResponse) (container.InspectResponse, error) {
	id, err := r.find(ctx, node)
	if err != nil || id == old.ID {
		return old, ignoreAbsent(err)
	}
	c, err := r.inspect(ctx, node, id)
	if err != nil {
		r.ids.CompareAndDelete(node, id)
		return old, nil // it is there and stands still, which is not wrong; the next look may see more
	}
	return c, nil
}

func noContainer(node medic.NodeID, cluster string) error {
	return fmt.Errorf("%w: %s of cluster %s has none (labels %s=%[3]s, %s=%[2]s); make it again with `docker-compose up --no-start`, medics start it then",
		ErrNoContainer, node, cluster, LabelCluster, LabelNode)
}

// find searches by labels. Compose has two containers of a service for a moment when it makes one anew: the running one counts, else the
// newer one.
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

// list is the containers of the cluster, in whatever state.
func (r *Restarter) list(ctx context.Context, more ...filters.KeyValuePair) (all []container.Summary, err error) {
	by := filters.NewArgs(append(more, filters.Arg("label", LabelCluster+"="+r.cfg.Cluster))...)
	err = r.engine.do(ctx, "look for containers of cluster "+r.cfg.Cluster, func(ctx context.Context) (err error) {
		all, err = r.engine.api.ContainerList(ctx, container.ListOptions{All: true, Filters: by})
		return err
	})
	return slices.DeleteFunc(all, func(c container.Summary) bool { return c.Labels[labelOneOff] == "True" }), err
}

// known is the container of the node that was found last, "" if none was, or if that one is gone.
func (r *Restarter) known(node medic.NodeID) string {
	id, _ := r.ids.Load(node)
	name, _ := id.(string)
	return name
}

// ignoreAbsent turns "there is none" into nothing: for what needs no container.
func ignoreAbsent(err error) error {
	if errors.Is(err, ErrNoContainer) {
		return nil
	}
	return err
}
