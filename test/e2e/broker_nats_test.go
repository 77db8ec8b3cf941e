package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/topology"
)

// natsServer is the embedded server as a process of its own.
type natsServer struct {
	file, address string
	cmd           *exec.Cmd // nil while it is dead
}

func startNATS(t *testing.T, settings map[string]string) (broker, map[string]string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &natsServer{file: filepath.Join(t.TempDir(), "topology.toml"), address: l.Addr().String()}
	_ = l.Close() // somebody may take it; then the server says so
	all := map[string]string{"cluster.transport": topology.ViaNATS, "nats.url": "nats://" + s.address, "nats.embedded": "true"}
	for key, value := range settings {
		all[key] = value
	}
	text, err := topology.Generate(topology.Variant{Settings: all})
	if err == nil {
		err = os.WriteFile(s.file, []byte(text), 0o600)
	}
	if err == nil {
		err = s.Start(deadline(t, time.Minute))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s, all
}

func (s *natsServer) Start(ctx context.Context) error {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envNATS+"="+s.file)
	var out strings.Builder
	cmd.Stderr = &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd = cmd
	for {
		if c, err := net.Dial("tcp", s.address); err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			s.Kill()
			return fmt.Errorf("start NATS: %w: %s", ctx.Err(), out.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s *natsServer) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
	s.cmd = nil
}

func (s *natsServer) Signal(sig syscall.Signal) error { return s.cmd.Process.Signal(sig) }

func (s *natsServer) Close() error { s.Kill(); return nil }
