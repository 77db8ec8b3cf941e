package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"

	"posta.dev/posta/medic"
)

// networkOf returns the network that the container belongs to, even while it is disconnected. Both versions of compose set it as the
// container's network mode, which stays. Otherwise it is a network with the cluster's label; "" if there is none.
func (r *Restarter) networkOf(ctx context.Context, c *container.InspectResponse) (string, error) {
	if c.HostConfig != nil && c.HostConfig.NetworkMode.IsUserDefined() {
		return c.HostConfig.NetworkMode.UserDefined(), nil
	}
	var all []network.Summary
	err := r.engine.do(ctx, "look for the network of cluster "+r.cfg.Cluster, func(ctx context.Context) (err error) {
		all, err = r.engine.api.NetworkList(ctx, network.ListOptions{Filters: filters.NewArgs(
			filters.Arg("label", LabelCluster+"="+r.cfg.Cluster))})
		return err
	})
	if err != nil || len(all) == 0 {
		return "", err
	}
	slices.SortFunc(all, func(a, b network.Summary) int { return a.Created.Compare(b.Created) })
	return all[0].Name, nil
}

// Attach connects the node's container to its network, under the node's name, unless it is connected that way already. An engine that
// itself reconnects a container drops the names that compose gave it.
func (r *Restarter) Attach(ctx context.Context, node medic.NodeID) error {
	c, err := r.look(ctx, node)
	if err != nil {
		return err
	}
	return r.attach(ctx, node, &c)
}

func (r *Restarter) attach(ctx context.Context, node medic.NodeID, c *container.InspectResponse) error {
	name, err := r.networkOf(ctx, c)
	if err != nil || name == "" {
		return err
	}
	end := endpoint(c, name)
	if end != nil && slices.Contains(end.Aliases, string(node)) {
		return nil
	}
	if end != nil { // connected under other names, and names cannot be added later
		if err := r.disconnect(ctx, node, c.ID, name); err != nil {
			return err
		}
	}
	names := []string{string(node)}
	if s := c.Config.Labels[labelService]; s != "" && s != string(node) {
		names = append(names, s)
	}
	err = r.change(ctx, node, fmt.Sprintf("connect %s to network %s", node, name), func(ctx context.Context) error {
		return r.engine.api.NetworkConnect(ctx, name, c.ID, &network.EndpointSettings{Aliases: names})
	}, func(now *container.InspectResponse) bool { return endpoint(now, name) != nil })
	if cerrdefs.IsNotFound(err) {
		return fmt.Errorf("%w; make the network and the containers again with `docker-compose up --no-start --force-recreate`", err)
	}
	return err
}

// endpoint returns the container's endpoint in a network, nil if it has none.
func endpoint(c *container.InspectResponse, name string) *network.EndpointSettings {
	if c.NetworkSettings == nil {
		return nil
	}
	if end := c.NetworkSettings.Networks[name]; end != nil {
		return end
	}
	for _, end := range c.NetworkSettings.Networks {
		if end != nil && end.NetworkID == name && name != "" {
			return end
		}
	}
	return nil
}

// Detach disconnects the node's container from its network; false if it was disconnected before.
func (r *Restarter) Detach(ctx context.Context, node medic.NodeID) (did bool, err error) {
	c, err := r.look(ctx, node)
	if err != nil {
		return false, err
	}
	name, err := r.networkOf(ctx, &c)
	if err != nil {
		return false, err
	}
	if name == "" {
		return false, fmt.Errorf("disconnect %s: %w; give the cluster's network the label %s=%s", node, errNoNetwork, LabelCluster, r.cfg.Cluster)
	}
	if endpoint(&c, name) == nil {
		return false, nil
	}
	return true, r.disconnect(ctx, node, c.ID, name)
}

var errNoNetwork = errors.New("it is in no network of the cluster")

func (r *Restarter) disconnect(ctx context.Context, node medic.NodeID, id, name string) error {
	return r.change(ctx, node, fmt.Sprintf("disconnect %s from network %s", node, name), func(ctx context.Context) error {
		return r.engine.api.NetworkDisconnect(ctx, name, id, true)
	}, func(now *container.InspectResponse) bool { return endpoint(now, name) == nil })
}
