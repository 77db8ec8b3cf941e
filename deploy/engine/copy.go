package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"

	"posta.dev/posta/deploy/plan"
)

// Load loads an image into the engine. moved is called for every piece, with its bytes.
func (e *Engine) Load(ctx context.Context, ref string, r io.Reader, moved func(n int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w, stop := watch(r, cancel, moved)
	defer stop()
	answer, err := e.api.ImageLoad(ctx, w, client.ImageLoadWithQuiet(true))
	if err == nil {
		err = loadErrors(answer.Body)
	}
	if err == nil {
		_, err = e.api.ImageInspect(ctx, ref)
	}
	if err != nil {
		return fmt.Errorf("host %s: load image %s: %w", e.Host, ref, ofStream(ctx, err))
	}
	return nil
}

// loadErrors reads what the engine reports while it loads an image: it reports errors in the body of an answer with status 200.
func loadErrors(body io.ReadCloser) error {
	defer func() { _ = body.Close() }()
	d := json.NewDecoder(body)
	for {
		var line struct {
			Error string `json:"error"`
		}
		switch err := d.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case line.Error != "":
			return errors.New(line.Error)
		}
	}
}

// Save reads an image from the engine. The reader must be closed.
func (e *Engine) Save(ctx context.Context, ref string) (io.ReadCloser, error) {
	r, err := e.api.ImageSave(ctx, []string{ref})
	if err != nil {
		return nil, fmt.Errorf("host %s: save image %s: %w", e.Host, ref, err)
	}
	return r, nil
}

// Tag finds an image by any name, and gives it the name made of its digest.
func (e *Engine) Tag(ctx context.Context, image string, nameFor func(id string) string) (ref, arch string, size int64, err error) {
	err = e.call(ctx, "find image "+image, func(ctx context.Context) error {
		i, err := e.api.ImageInspect(ctx, image)
		if err != nil {
			return err
		}
		ref, arch, size = nameFor(i.ID), i.Architecture, i.Size
		return e.api.ImageTag(ctx, i.ID, ref)
	})
	return ref, arch, size, err
}

// rootUser is the user of helpers that write to volumes of any user.
const rootUser = "0:0"

// Own gives the volume of a unit to the unit's user: the engine makes volumes for root, and earlier versions ran nodes as root. No
// container of the unit may run. A volume that it shares with units of its kind belongs to the same user already.
func (e *Engine) Own(ctx context.Context, cluster, volume string, s *plan.Spec) error {
	if s.User == "" || s.User == rootUser {
		return nil
	}
	_, err := e.runOnce(ctx, cluster, &container.Config{Image: s.Image, User: rootUser, Cmd: []string{"probe", "own", s.User, mountPoint}},
		&container.HostConfig{
			NetworkMode: "none", ReadonlyRootfs: true, SecurityOpt: []string{"no-new-privileges:true"}, CapAdd: []string{"CHOWN", "DAC_READ_SEARCH"},
			Mounts: []mount.Mount{{Type: mount.TypeVolume, Source: volume, Target: mountPoint}},
		}, nil)
	if errors.Is(err, errUsage) { // a rollback to a version without this command; the volumes are given already
		return nil
	}
	return err
}

// mountPoint is the path of the volume in a helper.
const mountPoint = "/carried"

// helper creates a container with the volume and never starts it: the engine can read and write the volumes of such containers, too.
func (e *Engine) helper(ctx context.Context, cluster, image, volume, side string) (name string, err error) {
	name = volume + "-" + side
	if err := e.removeOwn(ctx, name, plan.LabelHelper, cluster); err != nil { // a helper of an interrupted run
		return "", err
	}
	return name, e.create(ctx, name,
		&container.Config{Image: image, Labels: map[string]string{plan.LabelHelper: cluster}},
		&container.HostConfig{NetworkMode: "none", Mounts: []mount.Mount{{Type: mount.TypeVolume, Source: volume, Target: mountPoint}}}, nil)
}

// CopyVolume copies all data of a volume from another engine into an empty volume of this one, and then notes that the copy is complete.
func (e *Engine) CopyVolume(ctx context.Context, cluster, volume string, from *Engine, fromImage, image string, moved func(n int)) error {
	return e.copyVolume(ctx, cluster, volume, image, from, volume, fromImage, moved)
}

func (e *Engine) copyVolume(ctx context.Context, cluster, volume, image string, from *Engine, fromVolume, fromImage string,
	moved func(n int)) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	source, err := from.helper(ctx, cluster, fromImage, fromVolume, "leaves")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Remove(context.WithoutCancel(ctx), source)) }()
	target, err := e.helper(ctx, cluster, image, volume, "arrives")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Remove(context.WithoutCancel(ctx), target)) }()
	r, _, err := from.api.CopyFromContainer(ctx, source, mountPoint+"/.")
	if err != nil {
		return fmt.Errorf("host %s: read volume %s: %w", from.Host, fromVolume, ofStream(ctx, err))
	}
	defer func() { _ = r.Close() }()
	w, stop := watch(r, cancel, moved)
	defer stop()
	if err := e.api.CopyToContainer(ctx, target, mountPoint, w, container.CopyToContainerOptions{}); err != nil {
		return fmt.Errorf("host %s: write volume %s: %w", e.Host, volume, ofStream(ctx, err))
	}
	return e.note(ctx, arrivedName(volume), container.Config{Image: image, Labels: map[string]string{plan.LabelArrived: volume}})
}
