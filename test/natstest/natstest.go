// Package natstest starts NATS servers for tests. Posta contains none, so it builds the one of bench/rivals, once in each test binary.
package natstest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/bench/brokers"
)

// How long a server may take to be built and to start, on a machine that is busy with other tests. Building takes a minute of processor
// time, of which a shared machine gives one of many programs a tenth.
const (
	buildTime = 20 * time.Minute
	startTime = 5 * time.Minute
)

var built struct {
	once sync.Once
	dir  string
	err  error
}

// Program returns the server's program.
func Program(t testing.TB) string {
	t.Helper()
	built.once.Do(func() { built.dir, built.err = build() })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "nats")
}

func build() (dir string, err error) {
	root, err := projectRoot()
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "posta-nats"); err != nil {
		return "", err
	}
	// The server takes a minute of processor time to compile, unless Go has it in its cache. Of test binaries that need it at once the first
	// compiles it, and the others wait. Closing the file gives the lock back.
	turn, err := os.Open(filepath.Join(root, "bench", "rivals", "go.mod"))
	if err != nil {
		return dir, err
	}
	defer func() { _ = turn.Close() }()
	if err := syscall.Flock(int(turn.Fd()), syscall.LOCK_EX); err != nil {
		return dir, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	return dir, brokers.Build(ctx, root, "nats", filepath.Join(dir, "nats"))
}

// projectRoot returns the folder above this test's package that holds bench/rivals.
func projectRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "bench", "rivals", "go.mod")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", errors.Join(errors.New("no folder above has bench/rivals"), fs.ErrNotExist)
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// Remove removes the program, if it was built. A test binary calls it when its tests have ended.
func Remove() {
	if built.dir != "" {
		_ = os.RemoveAll(built.dir) // what stays is among temporary files
	}
}

// Start starts a server on a free port of 127.0.0.1, which is killed when the test is over. args are flags of the program, for instance
// -sync always.
func Start(t testing.TB, args ...string) *brokers.NATS {
	t.Helper()
	program := Program(t)
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	n, err := brokers.StartNATS(ctx, program, filepath.Join(t.TempDir(), "nats"), args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// Restart starts a server that was killed again, on the same data and port.
func Restart(t testing.TB, n *brokers.NATS) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	if err := n.Start(ctx); err != nil {
		t.Fatal(err)
	}
}
