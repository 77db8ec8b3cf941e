package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"posta.dev/posta/topology"
)

// MinVersion is the oldest API that is spoken: Docker 20.10.
const MinVersion = "1.41"

// ErrTooOld is wrapped when an engine does not speak it.
var ErrTooOld = errors.New("the Docker Engine is too old")

// Deadlines of calls. stall is for streams: the time without a byte.
const (
	callTime  = 20 * time.Second
	stallTime = time.Minute
)

// Engine is a connection to one. It may be used by several goroutines at once.
type Engine struct {
	Host string // what the topology calls it
	api  *client.Client
}

// Open connects, and agrees on the version of the API. It must be closed.
func Open(ctx context.Context, host string, d topology.Deploy) (*Engine, error) {
	api, err := dial(d)
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", host, err)
	}
	e := &Engine{Host: host, api: api}
	if err := e.agree(ctx); err != nil {
		_ = api.Close()
		return nil, err
	}
	return e, nil
}

func dial(d topology.Deploy) (*client.Client, error) {
	u, err := url.Parse(d.Engine)
	if err != nil {
		return nil, fmt.Errorf("engine %q: %w", d.Engine, err)
	}
	opts := []client.Opt{client.WithHost(d.Engine)}
	switch {
	case d.Engine == "":
		opts = []client.Opt{client.WithHostFromEnv(), client.WithTLSClientConfigFromEnv()}
	case u.Scheme == "ssh":
		opts = []client.Opt{client.WithHost("http://engine.over.ssh"), client.WithDialContext(overSSH(u))}
	case d.CA != "":
		opts = append(opts, client.WithTLSClientConfig(d.CA, d.Cert, d.Key))
	}
	api, err := client.NewClientWithOpts(opts...)
	if err != nil {
		return nil, fmt.Errorf("engine %q: %w; see [hosts.NAME] engine, or DOCKER_HOST", d.Engine, err)
	}
	return api, nil
}

func (e *Engine) agree(ctx context.Context) error {
	return e.call(ctx, "reach its engine", func(ctx context.Context) error {
		p, err := e.api.Ping(ctx)
		if err != nil {
			return err
		}
		if versions.LessThan(p.APIVersion, MinVersion) { // none at all is older than any
			return fmt.Errorf("%w: it speaks version %q of the API, and %s is needed; use Docker 20.10 or later", ErrTooOld, p.APIVersion, MinVersion)
		}
		e.api.NegotiateAPIVersionPing(p)
		return nil
	})
}

// Close lets go of the engine.
func (e *Engine) Close() error { return e.api.Close() }

// call makes a call with a deadline.
func (e *Engine) call(ctx context.Context, what string, f func(ctx context.Context) error) error {
	return e.callFor(ctx, callTime, what, f)
}

func (e *Engine) callFor(ctx context.Context, within time.Duration, what string, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := f(ctx); err != nil {
		return fmt.Errorf("host %s: %s: %w", e.Host, what, err)
	}
	return nil
}

// NoAnswer says that nobody knows whether a call was carried out: it may be made again. What an engine answered it has decided.
func NoAnswer(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, errSSH) ||
		client.IsErrConnectionFailed(err) || errors.As(err, &n)
}

// gone turns "there is none" into nothing: for what is to be gone.
func gone(err error) error {
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return err
}

// watched is a stream that ends when nothing came for too long.
type watched struct {
	r     io.Reader
	dog   *time.Timer
	moved func(n int)
}

// watch cancels a stream that stands still. stop must be called.
func watch(r io.Reader, cancel context.CancelFunc, moved func(n int)) (w *watched, stop func()) {
	w = &watched{r: r, dog: time.AfterFunc(stallTime, cancel), moved: moved}
	return w, func() { w.dog.Stop() }
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.dog.Reset(stallTime)
	if w.moved != nil && n > 0 {
		w.moved(n)
	}
	return n, err
}
