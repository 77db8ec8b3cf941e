package client

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"posta.dev/posta/protocol"
)

// TestCtrlCWhileAFileGivesNothing: a pipe nobody writes to must not keep a run that was cancelled.
func TestCtrlCWhileAFileGivesNothing(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	ctx, cancel := context.WithCancel(during(t, 20*time.Second))
	defer cancel()
	cfg.Find = func(protocol.Stream) ([]Source, error) {
		return []Source{{Name: "montreal/trips.csv", Size: -1, Open: func() (io.ReadCloser, error) {
			r, _ := io.Pipe()
			time.AfterFunc(50*time.Millisecond, cancel)
			return r, nil
		}}}, nil
	}
	if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
