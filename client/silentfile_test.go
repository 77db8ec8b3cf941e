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
		return []Source{{Name: "montreal/trips.csv", Size: -1, Open: func(context.Context) (io.ReadCloser, error) {
			r, _ := io.Pipe()
			time.AfterFunc(50*time.Millisecond, cancel)
			return r, nil
		}}}, nil
	}
	if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestStreamsWithoutFilesAreEmpty: lanes that wait for a first chunk must hear that there is none.
func TestStreamsWithoutFilesAreEmpty(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	cfg.Find = func(protocol.Stream) ([]Source, error) { return nil, nil }
	if _, err := Run(during(t, 20*time.Second), cfg); err != nil {
		t.Fatal(err)
	}
	if got := f.one(); got.bytes != 0 || len(got.ended) != 2 {
		t.Errorf("%d bytes came, and ends at %d of 2 inputs", got.bytes, len(got.ended))
	}
}
