package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// TestRun_ListensTellsAndEnds: it listens on a free port, writes URL and version to a file, and ends when standard input
// ends.
func TestRun_ListensTellsAndEnds(t *testing.T) {
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	in, end := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(context.Background(), []string{"-tied", "-dir", dir, "-ready", ready, "-sync", "always"}, in, io.Discard)
	}()
	var said struct{ URL, Version string }
	for late := time.Now().Add(readyTime); ; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(ready)
		if err == nil && json.Unmarshal(text, &said) == nil {
			break
		}
		if time.Now().After(late) {
			t.Fatal("the server does not say that it is ready")
		}
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(said.URL, "nats://"))
	if err != nil || said.Version != server.VERSION {
		t.Errorf("it says %+v: %v", said, err)
	} else {
		_ = conn.Close()
	}
	_ = end.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestRun_AnAddressThatIsTakenIsSaidAtOnce: the error does not wait for the time that a server may take to read its streams.
func TestRun_AnAddressThatIsTakenIsSaidAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), readyTime/2)
	defer cancel()
	err = run(ctx, []string{"-dir", t.TempDir(), "-address", l.Addr().String()}, nil, io.Discard)
	if err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("%v", err)
	}
}

func TestParse_WrongFlags(t *testing.T) {
	for _, args := range [][]string{{}, {"-dir", "d", "-sync", "never"}, {"-dir", "d", "-address", "here"},
		{"-dir", "d", "-address", "here:99999"}, {"-dir", "d", "more"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
