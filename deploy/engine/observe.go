package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"

	cerrdefs "github.com/containerd/errdefs"

	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"

	images "posta.dev/posta/deploy/image"
)

// Observe returns what the engine has of a cluster.
func (e *Engine) Observe(ctx context.Context, cluster string) (o plan.Engine, err error) {
	for _, look := range []func(context.Context, string, *plan.Engine) error{e.info, e.images, e.networks, e.containers, e.volumes} {
		if err := look(ctx, cluster, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (e *Engine) info(ctx context.Context, _ string, o *plan.Engine) error {
	return e.call(ctx, "ask its engine for its state", func(ctx context.Context) error {
		began := time.Now()
		i, err := e.api.Info(ctx)
		if err != nil {
			return err
		}
		took := time.Since(began)
		o.ID, o.Version, o.OS, o.Arch, o.Plain = i.ID, i.ServerVersion, i.OSType, goArch(i.Architecture), e.plain
		if o.ID == "" {
			o.ID = e.api.DaemonHost()
		}
		if at, err := time.Parse(time.RFC3339Nano, i.SystemTime); err == nil {
			o.Offset, o.OffsetError = at.Sub(began.Add(took/2)), took/2
		}
		return nil
	})
}

// goArch returns the GOARCH of a machine name of uname.
func goArch(machine string) string {
	switch machine {
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	case "i386", "i686":
		return "386"
	case "armv7l", "armv6l":
		return "arm"
	}
	return machine
}

func (e *Engine) images(ctx context.Context, _ string, o *plan.Engine) error {
	return e.call(ctx, "list its images", func(ctx context.Context) error {
		all, err := e.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("reference", images.Repository+":sha-*"))})
		for _, i := range all {
			o.Images = append(o.Images, i.RepoTags...)
		}
		return err
	})
}

func withLabel(label, value string) filters.Args {
	if value != "" {
		label += "=" + value
	}
	return filters.NewArgs(filters.Arg("label", label))
}

func (e *Engine) networks(ctx context.Context, cluster string, o *plan.Engine) error {
	return e.call(ctx, "list its networks", func(ctx context.Context) error {
		all, err := e.api.NetworkList(ctx, network.ListOptions{Filters: withLabel(topology.LabelCluster, cluster)})
		for _, n := range all {
			o.Networks = append(o.Networks, n.Name)
		}
		return err
	})
}

// inspected is a container, as the engine describes it.
type inspected struct {
	container.InspectResponse
	name   string
	labels map[string]string
}

func (c *inspected) runs() bool { return c.State.Running || c.State.Restarting }

// volumes returns the names of its volumes.
func (c *inspected) volumes() (names []string) {
	for _, m := range c.Mounts {
		if m.Type == mount.TypeVolume {
			names = append(names, m.Name)
		}
	}
	return names
}

// ports returns the ports of the host that it uses while it runs: published ones, or in host mode those that Create has noted as exposed.
func (c *inspected) ports() (all []int) {
	if c.HostConfig == nil {
		return nil
	}
	if c.HostConfig.NetworkMode.IsHost() {
		for p := range c.Config.ExposedPorts {
			all = append(all, p.Int())
		}
	}
	for _, bindings := range c.HostConfig.PortBindings {
		for _, b := range bindings {
			if p, err := strconv.Atoi(b.HostPort); err == nil {
				all = append(all, p)
			}
		}
	}
	return all
}

// eachContainer calls each for all containers with a label; value "" is any value. A container that is removed meanwhile is skipped.
func (e *Engine) eachContainer(ctx context.Context, label, value string, each func(c inspected)) error {
	return e.call(ctx, "list its containers", func(ctx context.Context) error {
		all, err := e.api.ContainerList(ctx, container.ListOptions{All: true, Filters: withLabel(label, value)})
		if err != nil {
			return err
		}
		for _, s := range all {
			c, err := e.api.ContainerInspect(ctx, s.ID)
			switch {
			case cerrdefs.IsNotFound(err):
			case err != nil:
				return err
			case c.ContainerJSONBase == nil || c.State == nil || c.Config == nil:
				return fmt.Errorf("the answer about container %.12s has no state", s.ID)
			default:
				each(inspected{c, strings.TrimPrefix(c.Name, "/"), c.Config.Labels})
			}
		}
		return nil
	})
}

// containers lists the containers of units, and those that keep information for the next run.
func (e *Engine) containers(ctx context.Context, cluster string, o *plan.Engine) error {
	for _, kind := range []struct {
		label string
		add   func(c inspected)
	}{
		{topology.LabelCluster, func(c inspected) {
			created, _ := time.Parse(time.RFC3339Nano, c.Created) // a time that cannot be parsed counts as the oldest
			o.Containers = append(o.Containers, plan.Container{
				Mounts: c.volumes(), Ports: c.ports(), Name: c.name, Unit: c.labels[topology.LabelNode], Host: c.labels[topology.LabelHost],
				Role:  c.labels[topology.LabelRole],
				Chain: c.labels[plan.LabelChain], Spec: c.labels[plan.LabelSpec], Shape: c.labels[plan.LabelShape], Image: c.Config.Image,
				Running: c.runs(), EverStarted: !strings.HasPrefix(c.State.StartedAt, "0001-") && c.State.StartedAt != "", Created: created.UnixNano(),
			})
		}},
		{plan.LabelRevision, func(c inspected) {
			number, err := strconv.Atoi(c.labels[plan.LabelNumber])
			if err != nil {
				return // not one of ours
			}
			r := plan.Revision{Name: c.name, Number: number, Digest: c.labels[plan.LabelDigest], Image: c.Config.Image,
				Shape: c.labels[plan.LabelShape]}
			for _, v := range c.Config.Env {
				if text, ok := strings.CutPrefix(v, plan.EnvTopology+"="); ok {
					r.File = text
				}
			}
			o.Revisions = append(o.Revisions, r)
		}},
		{plan.LabelDrained, func(c inspected) {
			o.DrainMarks = append(o.DrainMarks, plan.DrainMark{Name: c.name, Shape: c.labels[plan.LabelShape]})
		}},
		{plan.LabelKeys, func(c inspected) {
			o.Keys = append(o.Keys, plan.KeysNote{Volume: c.labels[plan.LabelKeysIn], Digest: c.labels[plan.LabelDigest]})
		}},
		{plan.LabelHelper, func(c inspected) { o.Helpers = append(o.Helpers, c.name) }},
	} {
		if err := e.eachContainer(ctx, kind.label, cluster, kind.add); err != nil {
			return err
		}
	}
	return nil
}

// RunningMedics returns the containers of a cluster's medics that run.
func (e *Engine) RunningMedics(ctx context.Context, cluster string) (names []string, err error) {
	err = e.eachContainer(ctx, topology.LabelCluster, cluster, func(c inspected) {
		if c.labels[topology.LabelRole] == topology.RoleMedic && c.runs() {
			names = append(names, c.name)
		}
	})
	return names, err
}
