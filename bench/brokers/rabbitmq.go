package brokers

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

//go:embed rabbitmq.sh
var script string

// RabbitMQ is a server. Its methods are called by one goroutine.
type RabbitMQ struct {
	process
	ports   [3]int
	version string
}

// ErrNotInstalled is wrapped by the error of [StartRabbitMQ] where there is no RabbitMQ.
var ErrNotInstalled = errors.New("not installed")

// installed is where Debian has the server without its wrapper, which changes the user. The script looks there first, too.
const installed = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// FindRabbitMQ returns an error that says how to install it where there is none.
func FindRabbitMQ() error { return find(installed) }

func find(path string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if _, err := exec.LookPath("rabbitmq-server"); err != nil {
		return fmt.Errorf("rabbitmq-server is %w: apt-get install rabbitmq-server, or put it into the PATH", ErrNotInstalled)
	}
	return nil
}

// Version is what the server says of itself.
func (r *RabbitMQ) Version() string { return r.version }

// StartRabbitMQ starts a server with its data in dir, which is made, and waits until it answers.
func StartRabbitMQ(ctx context.Context, dir string) (*RabbitMQ, error) {
	r := &RabbitMQ{process: process{dir: dir}}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(r.script(), []byte(script), 0o755); err != nil {
		return nil, err
	}
	return r, r.startOn(ctx, freePorts)
}

// portTries is how often ports are looked for: what is free when it is found may be somebody else's when the server gets to it.
const portTries = 5

// startOn starts it on ports that find finds, and on others when somebody was faster.
func (r *RabbitMQ) startOn(ctx context.Context, find func() ([3]int, error)) (err error) {
	for range portTries {
		if r.ports, err = find(); err != nil {
			return err
		}
		if err = r.Start(ctx); err == nil || ctx.Err() != nil || !r.outrun() {
			return err
		}
	}
	return err
}

// outrun reports whether somebody has a port of ours, now that the server is gone.
func (r *RabbitMQ) outrun() bool {
	for _, p := range r.ports {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
		if err != nil {
			return true
		}
		_ = l.Close() // it is free
	}
	return false
}

func (r *RabbitMQ) script() string { return filepath.Join(r.dir, "rabbitmq.sh") }

// freePorts finds three. Somebody may take them before the server does: see startOn.
func freePorts() (ports [3]int, err error) {
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return ports, err
		}
		defer func() { _ = l.Close() }() // all at once, so that they differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// URL is where it listens.
func (r *RabbitMQ) URL() string { return fmt.Sprintf("amqp://guest:guest@127.0.0.1:%d/", r.ports[0]) }

// Start starts it, again after Kill, on the same data, and waits until it answers.
func (r *RabbitMQ) Start(ctx context.Context) error {
	args := []string{r.dir}
	for _, p := range r.ports {
		args = append(args, strconv.Itoa(p))
	}
	err := r.start(ctx, exec.Command(r.script(), args...), 100*time.Millisecond, func() bool {
		conn, err := amqp.Dial(r.URL())
		if err != nil {
			return false
		}
		r.version, _ = conn.Properties["version"].(string)
		_ = conn.Close() // it was there
		return true
	})
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 127 {
		err = fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	if err != nil {
		return fmt.Errorf("start RabbitMQ: %w", err)
	}
	return nil
}
