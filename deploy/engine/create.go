package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/go-connections/nat"

	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"
)

// CreateNetwork creates the network that the containers of a cluster have on one engine.
func (e *Engine) CreateNetwork(ctx context.Context, cluster, name string) error {
	return e.call(ctx, "create network "+name, func(ctx context.Context) error {
		all, err := e.api.NetworkList(ctx, network.ListOptions{Filters: withLabel(topology.LabelCluster, cluster)})
		if err != nil || slices.ContainsFunc(all, func(n network.Summary) bool { return n.Name == name }) {
			return err
		}
		_, err = e.api.NetworkCreate(ctx, name, network.CreateOptions{Driver: "bridge",
			Labels: map[string]string{topology.LabelCluster: cluster}})
		return err
	})
}

// RemoveNetwork removes a network.
func (e *Engine) RemoveNetwork(ctx context.Context, name string) error {
	return e.call(ctx, "remove network "+name, func(ctx context.Context) error { return ignoreNotFound(e.api.NetworkRemove(ctx, name)) })
}

// CreateVolume creates a volume with labels.
func (e *Engine) CreateVolume(ctx context.Context, name string, labels map[string]string) error {
	return e.call(ctx, "create volume "+name, func(ctx context.Context) error {
		v, err := e.api.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: labels}) // an existing volume is returned unchanged
		if err == nil && v.Labels[topology.LabelCluster] != labels[topology.LabelCluster] {
			return fmt.Errorf("a volume of that name exists and does not belong to this cluster; give the cluster another name, or remove it "+
				"with `docker volume rm %s` if nobody needs it", name)
		}
		return err
	})
}

// DeleteVolume deletes a volume. It deletes the notes about the volume's content first. Otherwise a partial volume could count as complete
// later, or a new volume as one with keys. cluster is the cluster of the volume.
func (e *Engine) DeleteVolume(ctx context.Context, cluster, name string) error {
	if err := e.removeOwn(ctx, plan.KeysNoteName(name), plan.LabelKeys, cluster); err != nil {
		return err
	}
	if err := e.removeOwn(ctx, arrivedName(name), plan.LabelArrived, name); err != nil {
		return err
	}
	return e.call(ctx, "delete volume "+name, func(ctx context.Context) error { return ignoreNotFound(e.api.VolumeRemove(ctx, name, false)) })
}

func arrivedName(volume string) string { return volume + "-arrived" }

// pidsLimit is how many processes and threads a container may have: some times what a node with many processors has.
const pidsLimit = 1024

// Create creates a unit's container.
func (e *Engine) Create(ctx context.Context, name string, u *plan.Unit) error {
	s := &u.Spec
	labels := map[string]string{plan.LabelSpec: u.Hash}
	maps.Copy(labels, s.Labels)
	grace := int(s.Grace.Round(time.Second) / time.Second)
	c := &container.Config{Image: s.Image, User: s.User, Cmd: s.Command, Env: s.Env, Labels: labels, StopTimeout: &grace}
	h := &container.HostConfig{
		ReadonlyRootfs: true, CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges:true"},
		LogConfig:     container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "10m", "max-file": "3"}},
		Resources:     container.Resources{Memory: s.Memory, PidsLimit: new(int64(pidsLimit))},
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		NetworkMode:   "host",
	}
	if s.Always {
		h.RestartPolicy.Name = container.RestartPolicyUnlessStopped
	}
	if s.NoDNS {
		// The engine asks other name servers for names that it does not know, like the name of a node that is being restarted. Such a lookup has
		// to fail at once. The engine itself resolves names in this network.
		h.DNS, h.DNSSearch, h.DNSOptions = []string{"127.0.0.1"}, []string{"."}, []string{"timeout:1", "attempts:1"}
	}
	var published nat.PortMap
	if c.ExposedPorts, published = portMaps(s.Ports); s.Network != "" {
		h.PortBindings = published
	}
	if err := e.haveVolumes(ctx, name, s.Mounts); err != nil {
		return err
	}
	for _, m := range s.Mounts {
		if m.File != "" {
			h.Mounts = append(h.Mounts, mount.Mount{Type: mount.TypeBind, Source: m.File, Target: m.Target, ReadOnly: m.ReadOnly})
		} else {
			h.Mounts = append(h.Mounts, mount.Mount{Type: mount.TypeVolume, Source: m.Volume, Target: m.Target})
		}
	}
	var n *network.NetworkingConfig
	if s.Network != "" {
		h.NetworkMode = container.NetworkMode(s.Network)
		n = &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{s.Network: {Aliases: []string{s.Alias}}}}
	}
	return e.create(ctx, name, c, h, n)
}

func portMaps(ports []plan.Port) (nat.PortSet, nat.PortMap) {
	exposed, published := nat.PortSet{}, nat.PortMap{}
	for _, p := range ports {
		inside := nat.Port(strconv.Itoa(p.Inside) + "/tcp")
		exposed[inside] = struct{}{}
		published[inside] = append(published[inside], nat.PortBinding{HostIP: p.At, HostPort: strconv.Itoa(p.Outside)})
	}
	return exposed, published
}

// haveVolumes refuses a container whose volumes do not exist: the engine would create them itself, without the labels by which they are
// recognised.
func (e *Engine) haveVolumes(ctx context.Context, container string, mounts []plan.Mount) error {
	return e.call(ctx, "create container "+container, func(ctx context.Context) error {
		for _, m := range mounts {
			if m.Volume == "" {
				continue
			}
			_, err := e.api.VolumeInspect(ctx, m.Volume)
			switch {
			case cerrdefs.IsNotFound(err):
				return fmt.Errorf("its volume %s has been removed since this deploy began; run the same command again", m.Volume)
			case err != nil:
				return err
			}
		}
		return nil
	})
}

// create creates a container. If one of that name with the same labels exists, an earlier call created it and its answer was lost.
func (e *Engine) create(ctx context.Context, name string, c *container.Config, h *container.HostConfig, n *network.NetworkingConfig) error {
	return e.call(ctx, "create container "+name, func(ctx context.Context) error {
		_, err := e.api.ContainerCreate(ctx, c, h, n, nil, name)
		if !cerrdefs.IsConflict(err) {
			return err
		}
		there, lookErr := e.api.ContainerInspect(ctx, name)
		if lookErr != nil || there.Config == nil {
			return err
		}
		for k, v := range c.Labels {
			if there.Config.Labels[k] != v {
				return strangerError(name)
			}
		}
		return nil
	})
}

// SaveRevision saves a topology in a container that is never started. It is as safe there as the cluster's data. Everybody who may use the
// engine can read it.
func (e *Engine) SaveRevision(ctx context.Context, d *plan.Desired, name string, number int) error {
	return e.note(ctx, name, container.Config{
		Image: d.Image, Env: []string{plan.EnvTopology + "=" + d.File},
		Labels: map[string]string{
			plan.LabelRevision: d.Cluster, plan.LabelNumber: strconv.Itoa(number), plan.LabelDigest: d.RevisionDigest(), plan.LabelShape: d.Shape,
		},
	})
}

// MarkDrained notes that no session of a shape is unfinished.
func (e *Engine) MarkDrained(ctx context.Context, cluster, name, shape, image string) error {
	return e.note(ctx, name, container.Config{Image: image, Labels: map[string]string{plan.LabelDrained: cluster, plan.LabelShape: shape}})
}

// note creates a container that is never started: the information is in its labels and environment.
func (e *Engine) note(ctx context.Context, name string, c container.Config) error {
	return e.create(ctx, name, &c, &container.HostConfig{NetworkMode: "none"}, nil)
}

// Start starts a container; it is not an error if the container runs already.
func (e *Engine) Start(ctx context.Context, name string) error {
	return e.callFor(ctx, 3*callTime, "start "+name, func(ctx context.Context) error {
		return e.api.ContainerStart(ctx, name, container.StartOptions{})
	})
}

// Stop ends a container: it may drain for the grace, and is killed then. It is not an error if the container is gone or does not run.
func (e *Engine) Stop(ctx context.Context, name string, grace time.Duration) error {
	seconds := int((grace + time.Second - 1) / time.Second)
	return e.callFor(ctx, grace+2*callTime, "stop "+name, func(ctx context.Context) error {
		return ignoreNotFound(e.api.ContainerStop(ctx, name, container.StopOptions{Timeout: &seconds}))
	})
}

// Remove removes a container that was stopped before. If a medic has started it again it is killed, which loses nothing.
func (e *Engine) Remove(ctx context.Context, name string) error {
	return e.callFor(ctx, 2*callTime, "remove "+name, func(ctx context.Context) error {
		err := ignoreNotFound(e.api.ContainerRemove(ctx, name, container.RemoveOptions{Force: true}))
		if cerrdefs.IsConflict(err) { // another client is removing it
			for range 100 {
				if _, look := e.api.ContainerInspect(ctx, name); cerrdefs.IsNotFound(look) {
					return nil
				}
				time.Sleep(50 * time.Millisecond)
			}
		}
		return err
	})
}

// removeOwn removes a container of this name if it has this label. Without the label it belongs to somebody else, which is an error.
func (e *Engine) removeOwn(ctx context.Context, name, label, value string) error {
	err := e.call(ctx, "look at container "+name, func(ctx context.Context) error {
		c, err := e.api.ContainerInspect(ctx, name)
		if err != nil {
			return err
		}
		if c.Config == nil || c.Config.Labels[label] != value {
			return strangerError(name)
		}
		return nil
	})
	switch {
	case cerrdefs.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return e.Remove(ctx, name)
}

// strangerError returns the error for a name that somebody else's container has.
func strangerError(name string) error {
	return fmt.Errorf("a container called %s exists and does not belong to this cluster; rename it (docker rename), remove it (docker rm) "+
		"if nobody needs it, or give the cluster another name", name)
}
