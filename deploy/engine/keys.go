package engine

import (
	"context"
	"io"
	"path"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"
)

// Keys is a unit's key directory, packed for transport.
type Keys interface {
	Digest() string // digest of all keys but the private one
	io.WriterTo     // writes what posta probe keys reads
}

// CarryKeys brings keys into the volume of a unit, tells the unit to read them if it runs, and then makes a note. The keys are sent to the
// standard input of a short-lived container, because everybody who may use the engine can see a container's configuration.
//
// After the old note was removed and before the new one is made, it is unknown which keys are in the volume. After an interruption there,
// the next run brings the keys again.
func (e *Engine) CarryKeys(ctx context.Context, cluster, image, volume string, u *plan.Unit, keys Keys) error {
	note := plan.KeysNoteName(volume)
	if err := e.removeOwn(ctx, note, plan.LabelKeys, cluster); err != nil {
		return err
	}
	if err := e.haveVolumes(ctx, note, []plan.Mount{{Volume: volume}}); err != nil {
		return err
	}
	_, err := e.runOnce(ctx, cluster,
		&container.Config{Image: image, User: rootUser, Cmd: []string{"probe", "keys", path.Join(mountPoint, plan.KeysName)}, AttachStdin: true,
			OpenStdin: true, StdinOnce: true},
		&container.HostConfig{
			NetworkMode: "none", ReadonlyRootfs: true, CapAdd: []string{"SETUID", "SETGID"}, // the keys belong to the user that has the volume
			SecurityOpt: []string{"no-new-privileges:true"},
			Mounts:      []mount.Mount{{Type: mount.TypeVolume, Source: volume, Target: mountPoint}},
		}, keys)
	if err != nil {
		return err
	}
	if err := e.reloadKeys(ctx, cluster, u); err != nil {
		return err
	}
	return e.note(ctx, note, container.Config{Image: image, Labels: map[string]string{plan.LabelKeys: cluster, plan.LabelKeysIn: volume,
		plan.LabelDigest: keys.Digest()}})
}

// startWithInput starts a container that reads input. Unread input is not an error here: the container's exit status shows whether it
// succeeded.
func (e *Engine) startWithInput(ctx context.Context, name string, input io.WriterTo) error {
	return e.callFor(ctx, 3*callTime, "start "+name, func(ctx context.Context) error {
		a, err := e.api.ContainerAttach(ctx, name, container.AttachOptions{Stream: true, Stdin: true})
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, a.Close) // a hijacked connection does not watch the context
		defer func() { stop(); a.Close() }()
		if err := e.api.ContainerStart(ctx, name, container.StartOptions{}); err != nil {
			return err
		}
		_, err = input.WriteTo(a.Conn)
		if err == nil {
			err = a.CloseWrite()
		}
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, a.Reader) // until the engine has passed on all input, and closes
		return ofStream(ctx, nil)
	})
}

// reloadKeys makes the unit's running containers read their keys. Containers of another shape are left out: they may have no keys, and the
// signal would end them.
func (e *Engine) reloadKeys(ctx context.Context, cluster string, u *plan.Unit) error {
	var names []string
	err := e.eachContainer(ctx, topology.LabelCluster, cluster, func(c inspected) {
		if c.labels[topology.LabelNode] == u.Name && c.labels[plan.LabelShape] == u.Spec.Labels[plan.LabelShape] && c.runs() {
			names = append(names, c.name)
		}
	})
	for _, name := range names {
		if err == nil {
			err = e.call(ctx, "have "+name+" read its keys", func(ctx context.Context) error {
				err := ignoreNotFound(e.api.ContainerKill(ctx, name, "HUP"))
				if cerrdefs.IsConflict(err) { // it has ended, and will read them when it starts
					return nil
				}
				return err
			})
		}
	}
	return err
}
