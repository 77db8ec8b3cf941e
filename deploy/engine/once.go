package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"
)

// RunOnce runs the image in a container of its own, without network or volumes, and returns its output.
func (e *Engine) RunOnce(ctx context.Context, cluster, image string, command ...string) (out string, err error) {
	return e.runOnce(ctx, cluster, &container.Config{Image: image, Cmd: command}, &container.HostConfig{NetworkMode: "none"}, nil)
}

// notStarted is the error of a helper's container that could not be started.
type notStarted struct{ error }

func (e notStarted) Unwrap() error { return e.error }

// errUsage is wrapped by the error of a helper whose program does not know its command: the image is of another version.
var errUsage = errors.New("exit status 2")

// runOnce runs a container of this configuration until it ends. input is its standard input; nil is none.
func (e *Engine) runOnce(ctx context.Context, cluster string, c *container.Config, h *container.HostConfig, input io.WriterTo) (out string,
	err error) {
	name := cluster + "-probe-" + strings.Join(strings.Fields(e.Host), "-")
	c.Labels, h.CapDrop = map[string]string{plan.LabelHelper: cluster}, []string{"ALL"}
	if err := e.removeOwn(ctx, name, plan.LabelHelper, cluster); err != nil {
		return "", err
	}
	if err := e.create(ctx, name, c, h, nil); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, e.Remove(context.WithoutCancel(ctx), name)) }()
	if input == nil {
		err = e.Start(ctx, name)
	} else {
		err = e.startWithInput(ctx, name, input)
	}
	if err != nil {
		return "", notStarted{err}
	}
	err = e.callFor(ctx, 3*callTime, "wait for "+strings.Join(c.Cmd, " "), func(ctx context.Context) error {
		done, failed := e.api.ContainerWait(ctx, name, container.WaitConditionNotRunning)
		select {
		case r := <-done:
			out, err = e.lastLog(ctx, name)
			if err == nil && r.StatusCode != 0 {
				how := fmt.Errorf("exit status %d", r.StatusCode)
				if r.StatusCode == 2 {
					how = errUsage
				}
				err = fmt.Errorf("%w%s", how, colon(lastLine(out)))
			}
			return err
		case err := <-failed:
			return err
		}
	})
	return out, err
}

// errPortTaken is wrapped when another program uses a port that the cluster needs.
var errPortTaken = errors.New("a port that the cluster needs is taken")

// portAdvice says what to do if a port is taken.
const portAdvice = "end what has it, or write other ports ([hosts.NAME] ports) in the topology"

// CheckPorts returns an error if one of these ports of the host is in use. network is the network from which they are published; "" means
// the host's own network.
//
// Ports of the cluster's running containers are left out. A medic may start one at any time, so after a failure the running containers are
// listed again.
func (e *Engine) CheckPorts(ctx context.Context, cluster, image, network string, ports []plan.Port) error {
	var err error
	for before := -1; ; before = len(ports) {
		own := map[int]bool{}
		look := e.eachContainer(ctx, topology.LabelCluster, cluster, func(c inspected) {
			for _, p := range c.ports() {
				own[p] = own[p] || c.runs()
			}
		})
		if look != nil {
			return look
		}
		ports = slices.DeleteFunc(slices.Clone(ports), func(p plan.Port) bool { return own[p.Outside] })
		if len(ports) == 0 || len(ports) == before {
			break
		}
		if err = e.checkPorts(ctx, cluster, image, network, ports); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	if len(ports) == 0 {
		return nil
	}
	return err
}

func (e *Engine) checkPorts(ctx context.Context, cluster, image, network string, ports []plan.Port) error {
	c := &container.Config{Image: image, Cmd: []string{"probe", "ports"}}
	h := &container.HostConfig{NetworkMode: "host"}
	if network != "" { // the engine binds published ports when the container starts, and fails if one is in use
		h.NetworkMode = container.NetworkMode(network)
		c.ExposedPorts, h.PortBindings = portMaps(ports)
	} else {
		for _, p := range ports {
			c.Cmd = append(c.Cmd, net.JoinHostPort(p.At, strconv.Itoa(p.Outside)))
		}
	}
	out, err := e.runOnce(ctx, cluster, c, h, nil)
	switch {
	case network != "" && errors.As(err, new(notStarted)) && !OutcomeUnknown(err): // the engine has no error of its own for a taken port
		return fmt.Errorf("%w: %w; %s", errPortTaken, err, portAdvice)
	case err != nil:
		return err
	}
	var taken []string
	if err := json.Unmarshal([]byte(out), &taken); err != nil {
		return fmt.Errorf("host %s: probe ports answers %q: %w", e.Host, out, err)
	}
	if len(taken) > 0 {
		return fmt.Errorf("%w: host %s: %s; %s", errPortTaken, e.Host, strings.Join(taken, ", "), portAdvice)
	}
	return nil
}

// Uptime returns when a container was started, and for how long it has run since, by its engine's clock. The error is ErrNotRunning if it
// does not run.
func (e *Engine) Uptime(ctx context.Context, name string) (started string, up time.Duration, err error) {
	err = e.call(ctx, "look at "+name, func(ctx context.Context) error {
		c, err := e.api.ContainerInspect(ctx, name)
		if err != nil {
			return err
		}
		if c.State == nil || !c.State.Running {
			return e.notRunning(ctx, name, c.State)
		}
		i, err := e.api.Info(ctx)
		if err != nil {
			return err
		}
		started = c.State.StartedAt
		since, err := time.Parse(time.RFC3339Nano, started)
		if err != nil {
			return err
		}
		now, err := time.Parse(time.RFC3339Nano, i.SystemTime)
		up = now.Sub(since)
		return err
	})
	return started, up, err
}
