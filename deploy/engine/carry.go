package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"

	"posta.dev/posta/deploy/plan"
)

// Load takes an image in. moved is told of every piece.
func (e *Engine) Load(ctx context.Context, ref string, r io.Reader, moved func(n int)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
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
		return fmt.Errorf("host %s: load image %s: %w", e.Host, ref, err)
	}
	return nil
}

// loadErrors reads what the engine says while it takes an image in: errors come behind a status of 200.
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

// Save gives an image out. The reader must be closed.
func (e *Engine) Save(ctx context.Context, ref string) (io.ReadCloser, error) {
	r, err := e.api.ImageSave(ctx, []string{ref})
	if err != nil {
		return nil, fmt.Errorf("host %s: save image %s: %w", e.Host, ref, err)
	}
	return r, nil
}

// Tag finds an image by whatever name people have for it, and gives it the name made of its digest.
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

const carried = "/carried"

// carrier makes a container that has a volume and is not started: the engine reads and writes volumes of such.
func (e *Engine) carrier(ctx context.Context, cluster, image, volume, side string) (name string, err error) {
	name = volume + "-" + side
	if err := e.Remove(ctx, name); err != nil { // of an interrupted run
		return "", err
	}
	return name, e.create(ctx, name,
		&container.Config{Image: image, Labels: map[string]string{plan.LabelHelper: cluster}},
		&container.HostConfig{NetworkMode: "none", Mounts: []mount.Mount{{Type: mount.TypeVolume, Source: volume, Target: carried}}}, nil)
}

// CopyVolume copies all data of a volume from another engine into a volume of this one that has none, and notes that it is whole.
func (e *Engine) CopyVolume(ctx context.Context, cluster, volume string, from *Engine, fromImage, image string, moved func(n int)) error {
	return e.copyVolume(ctx, cluster, volume, image, from, volume, fromImage, moved)
}

func (e *Engine) copyVolume(ctx context.Context, cluster, volume, image string, from *Engine, fromVolume, fromImage string, moved func(n int)) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source, err := from.carrier(ctx, cluster, fromImage, fromVolume, "leaves")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Remove(context.WithoutCancel(ctx), source)) }()
	target, err := e.carrier(ctx, cluster, image, volume, "arrives")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Remove(context.WithoutCancel(ctx), target)) }()
	r, _, err := from.api.CopyFromContainer(ctx, source, carried+"/.")
	if err != nil {
		return fmt.Errorf("host %s: read volume %s: %w", from.Host, fromVolume, err)
	}
	defer func() { _ = r.Close() }()
	w, stop := watch(r, cancel, moved)
	defer stop()
	if err := e.api.CopyToContainer(ctx, target, carried, w, container.CopyToContainerOptions{}); err != nil {
		return fmt.Errorf("host %s: write volume %s: %w", e.Host, volume, err)
	}
	return e.create(ctx, arrivedName(volume), &container.Config{Image: image, Labels: map[string]string{plan.LabelArrived: volume}},
		&container.HostConfig{NetworkMode: "none"}, nil)
}

// Try runs the image once, without anything, and returns what it says.
func (e *Engine) Try(ctx context.Context, cluster, image string, command ...string) (out string, err error) {
	name := cluster + "-probe-" + strings.Join(strings.FieldsFunc(e.Host, func(r rune) bool { return r == ' ' }), "-")
	if err := e.Remove(ctx, name); err != nil {
		return "", err
	}
	err = e.create(ctx, name, &container.Config{Image: image, Cmd: command, Labels: map[string]string{plan.LabelHelper: cluster}},
		&container.HostConfig{NetworkMode: "none", CapDrop: []string{"ALL"}}, nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, e.Remove(context.WithoutCancel(ctx), name)) }()
	if err := e.Start(ctx, name); err != nil {
		return "", err
	}
	err = e.callFor(ctx, 3*callTime, "wait for "+strings.Join(command, " "), func(ctx context.Context) error {
		done, failed := e.api.ContainerWait(ctx, name, container.WaitConditionNotRunning)
		select {
		case r := <-done:
			out, err = e.said(ctx, name)
			if err == nil && r.StatusCode != 0 {
				err = fmt.Errorf("exit status %d: %s", r.StatusCode, lastLine(out))
			}
			return err
		case err := <-failed:
			return err
		}
	})
	return out, err
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
