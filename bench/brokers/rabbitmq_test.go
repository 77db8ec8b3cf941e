//go:build brokers

package brokers

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRabbitMQComesAndGoes(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	r, err := StartRabbitMQ(ctx, filepath.Join(t.TempDir(), "rabbit"))
	if err != nil {
		t.Fatal(err)
	}
	first := r.PIDs()
	r.Kill()
	if left := r.PIDs(); len(first) == 0 || len(left) > 0 {
		t.Errorf("it had processes %v, and after Kill %v", first, left)
	}
	if err := r.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStartRabbitMQ_APortThatIsTakenMeanwhile: the start is tried again with other ports.
func TestStartRabbitMQ_APortThatIsTakenMeanwhile(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan struct{})
	go func() { // this listener closes each connection
		defer close(accepted)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	defer func() { _ = l.Close(); <-accepted }()
	r := &RabbitMQ{process: process{dir: filepath.Join(t.TempDir(), "rabbit")}}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.script(), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	found := 0
	err = r.startOn(ctx, func() ([3]int, error) {
		ports, err := freePorts()
		if found++; found == 1 {
			ports[0] = l.Addr().(*net.TCPAddr).Port
		}
		return ports, err
	})
	defer func() { _ = r.Close() }()
	if err != nil || found != 2 {
		t.Errorf("after %d looks for ports: %v", found, err)
	}
}
