package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"posta.dev/posta/topology"
)

// MinVersion is the oldest supported version of the API: Docker 20.10.
const MinVersion = "1.41"

// errTooOld is wrapped when an engine does not support MinVersion.
var errTooOld = errors.New("the Docker Engine is too old")

// Deadlines of calls; stallTime is how long a stream may be without a byte.
const (
	callTime  = 20 * time.Second
	stallTime = time.Minute
)

// Engine is a connection to a Docker Engine. Several goroutines may use it at once.
type Engine struct {
	Host  string // name in the topology
	api   *client.Client
	plain bool // the connection is not encrypted
}

// Open connects, and negotiates the version of the API. The caller closes the engine.
func Open(ctx context.Context, host string, d topology.Deploy) (*Engine, error) {
	api, err := dial(d)
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", host, err)
	}
	e := &Engine{Host: host, api: api, plain: plain(d)}
	if err := e.negotiate(ctx); err != nil {
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

// plain reports whether others on the network can read the connection. A connection with DOCKER_CERT_PATH but without DOCKER_TLS_VERIFY
// counts as readable, because the other end is not verified.
func plain(d topology.Deploy) bool {
	if d.Engine != "" {
		return strings.HasPrefix(d.Engine, "tcp://") && d.CA == ""
	}
	host := os.Getenv(client.EnvOverrideHost)
	verified := os.Getenv(client.EnvOverrideCertPath) != "" && os.Getenv(client.EnvTLSVerify) != ""
	return host != "" && !strings.HasPrefix(host, "unix://") && !verified
}

func (e *Engine) negotiate(ctx context.Context) error {
	return e.call(ctx, "reach its engine", func(ctx context.Context) error {
		p, err := e.api.Ping(ctx)
		if err != nil {
			return err
		}
		if versions.LessThan(p.APIVersion, MinVersion) { // "" is older than any
			return fmt.Errorf("%w: it speaks version %q of the API, and %s is needed; use Docker 20.10 or later", errTooOld, p.APIVersion,
				MinVersion)
		}
		e.api.NegotiateAPIVersionPing(p)
		return nil
	})
}

// Close closes the connection.
func (e *Engine) Close() error { return e.api.Close() }

// call makes a call with a deadline.
func (e *Engine) call(ctx context.Context, what string, f func(ctx context.Context) error) error {
	return e.callFor(ctx, callTime, what, f)
}

func (e *Engine) callFor(ctx context.Context, within time.Duration, what string, f func(ctx context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := f(bounded)
	if err == nil {
		return nil
	}
	if bounded.Err() != nil && ctx.Err() == nil {
		err = &silentError{within, err}
	}
	return fmt.Errorf("host %s: %s: %w", e.Host, what, err)
}

// silentError is the error for an engine that did not answer in time.
type silentError struct {
	waited time.Duration
	cause  error // wraps context.DeadlineExceeded, or is the error of the closed connection
}

func (e *silentError) Error() string {
	return fmt.Sprintf("its Docker Engine has not answered for %s; look whether it hangs (docker info on that host)",
		e.waited.Round(time.Millisecond))
}

func (e *silentError) Unwrap() []error { return []error{e.cause, context.DeadlineExceeded} }

// OutcomeUnknown reports whether it is unknown if a call was carried out, so that it may be repeated. If the engine has answered, the
// outcome is known.
func OutcomeUnknown(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, errSSH) ||
		client.IsErrConnectionFailed(err) || errors.As(err, &n)
}

// ignoreNotFound drops the error that there is no such object, for calls that remove it.
func ignoreNotFound(err error) error {
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return err
}

// stallReader is a stream that ends when no byte came for stallTime.
type stallReader struct {
	r     io.Reader
	timer *time.Timer // cancels the stream; every read resets it
	moved func(n int) // called for every piece, with its bytes; may be nil
}

// errStalled is the cause of a stream's end when it stalls. It wraps context.DeadlineExceeded, so the step is tried again.
var errStalled = fmt.Errorf("no byte has moved for %s; look whether its Docker Engine hangs, or the network between: %w", stallTime,
	context.DeadlineExceeded)

// watch cancels a stream that stalls. stop must be called.
func watch(r io.Reader, cancel context.CancelCauseFunc, moved func(n int)) (w *stallReader, stop func()) {
	w = &stallReader{r: r, timer: time.AfterFunc(stallTime, func() { cancel(errStalled) }), moved: moved}
	return w, func() { w.timer.Stop() }
}

// ofStream returns the error of a stream that ran under ctx: the cause of the cancellation if ctx was cancelled, else err.
func ofStream(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (w *stallReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.timer.Reset(stallTime)
	if w.moved != nil && n > 0 {
		w.moved(n)
	}
	return n, err
}
