package engine

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"

	cerrdefs "github.com/containerd/errdefs"

	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"

	images "posta.dev/posta/deploy/image"
)

// Observe says what there is of a cluster.
func (e *Engine) Observe(ctx context.Context, cluster string) (plan.Engine, error) {
	o := plan.Engine{}
	for _, look := range []func(context.Context, string, *plan.Engine) error{e.info, e.images, e.networks, e.containers, e.ledgers, e.quiet, e.volumes, e.helpers} {
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
		o.ID, o.Version, o.OS, o.Arch = i.ID, i.ServerVersion, i.OSType, goArch(i.Architecture)
		if o.ID == "" {
			o.ID = e.api.DaemonHost()
		}
		if at, err := time.Parse(time.RFC3339Nano, i.SystemTime); err == nil {
			o.Offset, o.OffsetError = at.Sub(began.Add(took/2)), took/2
		}
		return nil
	})
}

// goArch is what Go calls the machine that uname calls so.
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

// LocalArch is this machine's.
func LocalArch() string { return runtime.GOARCH }

func (e *Engine) images(ctx context.Context, _ string, o *plan.Engine) error {
	return e.call(ctx, "list its images", func(ctx context.Context) error {
		all, err := e.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("reference", images.Repository+":sha-*"))})
		for _, i := range all {
			o.Images = append(o.Images, i.RepoTags...)
		}
		return err
	})
}

func labelled(label, value string) filters.Args {
	if value != "" {
		label += "=" + value
	}
	return filters.NewArgs(filters.Arg("label", label))
}

func (e *Engine) networks(ctx context.Context, cluster string, o *plan.Engine) error {
	return e.call(ctx, "list its networks", func(ctx context.Context) error {
		all, err := e.api.NetworkList(ctx, network.ListOptions{Filters: labelled(topology.LabelCluster, cluster)})
		for _, n := range all {
			o.Networks = append(o.Networks, n.Name)
		}
		return err
	})
}

// inspected is all containers with a label. One that goes meanwhile is passed over.
func (e *Engine) inspected(ctx context.Context, by filters.Args, each func(container.InspectResponse)) error {
	return e.call(ctx, "list its containers", func(ctx context.Context) error {
		all, err := e.api.ContainerList(ctx, container.ListOptions{All: true, Filters: by})
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
				each(c)
			}
		}
		return nil
	})
}

func name(c *container.InspectResponse) string { return strings.TrimPrefix(c.Name, "/") }

func (e *Engine) containers(ctx context.Context, cluster string, o *plan.Engine) error {
	return e.inspected(ctx, labelled(topology.LabelCluster, cluster), func(c container.InspectResponse) {
		l := c.Config.Labels
		made, _ := time.Parse(time.RFC3339Nano, c.Created) // of another form it is the oldest
		o.Containers = append(o.Containers, plan.Container{
			Name: name(&c), Unit: l[topology.LabelNode], Host: l[topology.LabelHost], Role: l[topology.LabelRole],
			Chain: l[plan.LabelChain], Spec: l[plan.LabelSpec], Shape: l[plan.LabelShape], Image: c.Config.Image,
			Running: c.State.Running || c.State.Restarting, EverStarted: !strings.HasPrefix(c.State.StartedAt, "0001-") && c.State.StartedAt != "", Created: made.UnixNano(),
		})
	})
}

// RunningMedics returns the containers of a cluster's medics that run.
func (e *Engine) RunningMedics(ctx context.Context, cluster string) (names []string, err error) {
	err = e.inspected(ctx, labelled(topology.LabelCluster, cluster), func(c container.InspectResponse) {
		if c.Config.Labels[topology.LabelRole] == topology.RoleMedic && (c.State.Running || c.State.Restarting) {
			names = append(names, name(&c))
		}
	})
	return names, err
}

func (e *Engine) ledgers(ctx context.Context, cluster string, o *plan.Engine) error {
	return e.inspected(ctx, labelled(plan.LabelRevision, cluster), func(c container.InspectResponse) {
		turn, err := strconv.Atoi(c.Config.Labels[plan.LabelNumber])
		if err != nil {
			return // not one of ours
		}
		l := plan.Revision{Name: name(&c), Number: turn, Digest: c.Config.Labels[plan.LabelDigest], Image: c.Config.Image, Shape: c.Config.Labels[plan.LabelShape]}
		for _, v := range c.Config.Env {
			if text, ok := strings.CutPrefix(v, plan.EnvTopology+"="); ok {
				l.File = text
			}
		}
		o.Revisions = append(o.Revisions, l)
	})
}

func (e *Engine) quiet(ctx context.Context, cluster string, o *plan.Engine) error {
	return e.inspected(ctx, labelled(plan.LabelDrained, cluster), func(c container.InspectResponse) {
		o.DrainMarks = append(o.DrainMarks, plan.DrainMark{Name: name(&c), Shape: c.Config.Labels[plan.LabelShape]})
	})
}

func (e *Engine) volumes(ctx context.Context, cluster string, o *plan.Engine) error {
	arrived := map[string]bool{}
	err := e.inspected(ctx, labelled(plan.LabelArrived, ""), func(c container.InspectResponse) { arrived[c.Config.Labels[plan.LabelArrived]] = true })
	if err != nil {
		return err
	}
	ran := map[string]bool{}
	for _, c := range o.Containers {
		ran[c.Unit] = ran[c.Unit] || c.EverStarted
	}
	return e.call(ctx, "list its volumes", func(ctx context.Context) error {
		all, err := e.api.VolumeList(ctx, volume.ListOptions{Filters: labelled(topology.LabelCluster, cluster)})
		for _, v := range all.Volumes {
			node := v.Labels[topology.LabelNode]
			if v.Labels["com.docker.compose.project"] != "" {
				continue // of a cluster that compose has made
			}
			o.Volumes = append(o.Volumes, plan.Volume{
				Name: v.Name, Node: node, Chain: v.Labels[plan.LabelChain], Fence: v.Labels[plan.LabelFence],
				Partial: v.Labels[plan.LabelArriving] != "" && !arrived[v.Name] && !ran[node],
			})
		}
		return err
	})
}

func (e *Engine) helpers(ctx context.Context, cluster string, o *plan.Engine) error {
	return e.inspected(ctx, labelled(plan.LabelHelper, cluster), func(c container.InspectResponse) { o.Helpers = append(o.Helpers, name(&c)) })
}
