//go:build brokers

package brokers

import (
	"context"
	"path/filepath"
	"testing"
	"time"
)

func TestRabbitMQComesAndGoes(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
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
