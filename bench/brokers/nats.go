package brokers

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// NATS is a server with JetStream: the program nats of bench/rivals. Its methods are called by one goroutine.
type NATS struct {
	process
	command []string
	said    struct{ URL, Version string } // chosen by the first start and kept by later ones
}

// StartNATS creates dir, starts a server with its data there on a free port of 127.0.0.1, and waits until it answers.
// args are flags of the server, such as -sync always.
func StartNATS(ctx context.Context, program, dir string, args ...string) (*NATS, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	n := &NATS{process: process{dir: dir}, command: append([]string{program, "-tied", "-dir", filepath.Join(dir, "data")}, args...)}
	return n, n.Start(ctx)
}

// Start starts the server, or restarts it after Kill on the same data and port, and waits until it answers.
func (n *NATS) Start(ctx context.Context) error {
	args, ready := n.command[1:], filepath.Join(n.dir, "ready")
	if n.said.URL == "" {
		args = append(args, "-ready", ready)
	} else {
		args = append(args, "-address", n.address())
	}
	cmd := exec.Command(n.command[0], args...)
	err := n.start(ctx, cmd, 5*time.Millisecond, func() bool {
		if n.said.URL == "" {
			text, err := os.ReadFile(ready)
			return err == nil && json.Unmarshal(text, &n.said) == nil
		}
		conn, err := net.Dial("tcp", n.address())
		if err != nil {
			return false
		}
		_ = conn.Close() // the connection showed that the server answers
		return true
	})
	if err != nil {
		return fmt.Errorf("start NATS: %w", err)
	}
	return nil
}

// URL is the address of the server.
func (n *NATS) URL() string { return n.said.URL }

// Version is the version that the server reports.
func (n *NATS) Version() string { return n.said.Version }

func (n *NATS) address() string { return strings.TrimPrefix(n.said.URL, "nats://") }

// Dir is the directory with the server's data.
func (n *NATS) Dir() string { return filepath.Join(n.dir, "data") }
