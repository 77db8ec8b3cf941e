package docker

import (
	"context"
	"fmt"
	"time"

	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
)

// MinVersion is the oldest supported version of the API: Docker 20.10.
const MinVersion = "1.41"

// engine is a client of a Docker Engine, with a deadline for each call. Several goroutines may use it at once.
type engine struct {
	api  *client.Client
	call time.Duration
	// agreeing has a buffer of one. The goroutine that fills it negotiates the API's version. A mutex was rejected, because waiting for a
	// mutex has no deadline.
	agreeing chan struct{}
	agreed   bool // guarded by agreeing
}

func newEngine(call time.Duration) (*engine, error) {
	api, err := client.NewClientWithOpts(client.WithHostFromEnv(), client.WithTLSClientConfigFromEnv(), client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, fmt.Errorf("find the Docker Engine: %w; see DOCKER_HOST", err)
	}
	return &engine{api: api, call: call, agreeing: make(chan struct{}, 1)}, nil
}

// do makes one call with a deadline of its own.
func (e *engine) do(ctx context.Context, what string, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, e.call)
	defer cancel()
	err := e.agree(ctx)
	if err == nil {
		err = f(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// agree negotiates the API's version, until it has succeeded once.
func (e *engine) agree(ctx context.Context) error {
	select {
	case e.agreeing <- struct{}{}:
		defer func() { <-e.agreeing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if e.agreed {
		return nil
	}
	p, err := e.api.Ping(ctx)
	if err != nil {
		return err
	}
	if versions.LessThan(p.APIVersion, MinVersion) { // "" is older than any
		return fmt.Errorf("%w: %s speaks version %q of the API, and %s is needed; use Docker 20.10 or later", ErrTooOld, e.api.DaemonHost(),
			p.APIVersion, MinVersion)
	}
	e.api.NegotiateAPIVersionPing(p)
	e.agreed = true
	return nil
}
