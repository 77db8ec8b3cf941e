package docker

import (
	"context"
	"fmt"
	"time"

	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
)

// MinVersion is the oldest API that is spoken: Docker 20.10.
const MinVersion = "1.41"

// engine is a Docker Engine whose calls all end in time. It may be used by several goroutines at once.
type engine struct {
	api  *client.Client
	call time.Duration
	// agreeing has room for one: the goroutine that fills it agrees on the API's version. It is no mutex, because waiting for one has no deadline.
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

// agree settles the API's version, once it succeeds for good.
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
	if versions.LessThan(p.APIVersion, MinVersion) { // none at all is older than any
		return fmt.Errorf("%w: %s speaks version %q of the API, and %s is needed; use Docker 20.10 or later", ErrTooOld, e.api.DaemonHost(), p.APIVersion, MinVersion)
	}
	e.api.NegotiateAPIVersionPing(p)
	e.agreed = true
	return nil
}
