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

// RabbitMQ is a server. One goroutine calls its methods.
type RabbitMQ struct {
	process
	ports   [3]int
	version string
}

// ErrNotInstalled reports that RabbitMQ is not installed. [StartRabbitMQ] wraps it.
var ErrNotInstalled = errors.New("not installed")

// installed is Debian's path of the server itself, without the wrapper that changes the user. The script rabbitmq.sh
// looks there first, too.
const installed = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// FindRabbitMQ returns an error with installation instructions if RabbitMQ is not installed.
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

// Version is the version that the server reports.
func (r *RabbitMQ) Version() string { return r.version }

// StartRabbitMQ creates dir, starts a server with its data there, and waits until it answers.
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

// portTries limits the attempts to find free ports: another process may take a port before the server listens on it.
const portTries = 5

// startOn starts the server on the ports that find returns. If another process has taken one of them meanwhile, it
// tries again with other ports.
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

// outrun reports whether another process has one of the ports. The server itself has ended.
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

// freePorts finds three free ports. Another process may take them before the server does: see startOn.
func freePorts() (ports [3]int, err error) {
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return ports, err
		}
		defer func() { _ = l.Close() }() // all three are open at once, so that they differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// URL is the address of the server.
func (r *RabbitMQ) URL() string { return fmt.Sprintf("amqp://guest:guest@127.0.0.1:%d/", r.ports[0]) }

// Start starts the server, or restarts it after Kill on the same data, and waits until it answers.
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
		_ = conn.Close() // the connection showed that the server answers
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
