//go:build interop

package client

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/test/temp"
)

// python runs the client and returns what it prints.
func (f *fakeCluster) python(dir string) []byte {
	f.t.Helper()
	return f.pythonAt(f.outputs[0].endpoint, dir)
}

func (f *fakeCluster) pythonAt(entry, dir string) []byte {
	f.t.Helper()
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	cmd := exec.CommandContext(during(f.t, 2*time.Minute), python, "../examples/python/bikes.py", "--entry", entry, dir)
	cmd.Env = append(os.Environ(), "PYTHONPATH=python", "PYTHONDONTWRITEBYTECODE=1")
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		f.t.Fatalf("%v\n%s", err, complaints.String())
	}
	return out.Bytes()
}

// TestPythonClientSaysTheSame runs the package of client/python, libzmq beneath it, against the fake cluster. It needs python3
// with zmq and msgpack; PYTHON names the interpreter.
func TestPythonClientSaysTheSame(t *testing.T) {
	for name, lose := range map[string]bool{"all goes well": false, "first replies are lost": true} {
		t.Run(name, func(t *testing.T) {
			f := newFakeCluster(t, 2, 1)
			f.mu.Lock()
			f.timeout, f.chunkBytes = time.Minute, 4000
			if lose {
				f.fault = func(h heard) fault {
					return fault{mute: h.before == 0 && h.request.Stream == "trips" && h.request.Seq == 3}
				}
			}
			f.mu.Unlock()
			dir, want := dataDir(t, 3000)
			out := f.python(dir)
			f.compare(want)
			var answer struct {
				Queries map[string]struct {
					Columns []string
					Rows    [][]any
				}
				Rejected map[string]struct{ Rows int }
			}
			if err := json.Unmarshal(out, &answer); err != nil {
				t.Fatal(err)
			}
			if n := len(answer.Queries["numbers"].Rows); n != f.rows || answer.Rejected["trips"].Rows != 1 {
				t.Errorf("%d rows of numbers; rejected %v", n, answer.Rejected)
			}
			for _, n := range append(f.inputs, f.outputs...) {
				if got := f.one().dropped[n.name]; got != protocol.Close {
					t.Errorf("%s heard %q at the end, not close", n.name, got)
				}
			}
		})
	}
}

// TestB13_PythonKeepsOpenedInputsAlive while a later one has not opened the session yet, as the Go client does
// (TestB13_OpenedInputsAreKeptAlive).
func TestB13_PythonKeepsOpenedInputsAlive(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	f.fault = func(h heard) fault {
		return fault{deaf: h.node == "input-2" && h.request.Type == protocol.Open && f.count("input-1", protocol.Ping) < 3}
	}
	dir, want := dataDir(t, 100)
	f.python(dir)
	f.compare(want)
}

// TestR14_PythonPingsClaim: its pings say what was acknowledged, as the Go client's do (TestR14_PingsClaim).
func TestR14_PythonPingsClaim(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	f.slowly()
	dir, want := dataDir(t, 3000)
	f.python(dir)
	f.compare(want)
	f.pinged()
}

// TestS4_PythonUsesTheSocketsOfConnect: it finds the other nodes beside the socket that it was given, and dials none of the addresses that
// the cluster tells, which need a key.
func TestS4_PythonUsesTheSocketsOfConnect(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	at := temp.Sockets(t)
	used := map[string]bool{}
	var mu sync.Mutex
	for _, n := range append(f.inputs, f.outputs...) {
		passOn(t, filepath.Join(at, n.name+".client"), strings.TrimPrefix(n.endpoint, "tcp://"), func() {
			mu.Lock()
			defer mu.Unlock()
			used[n.name] = true
		})
	}
	dir, want := dataDir(t, 3000)
	f.pythonAt("ipc://"+filepath.Join(at, "input-1.client"), dir)
	f.compare(want)
	mu.Lock()
	defer mu.Unlock()
	if len(used) != 3 {
		t.Errorf("it used the sockets of %v", used)
	}
}

// passOn passes on the bytes of connections to a unix socket, as posta connect does.
func passOn(t *testing.T, socket, address string, accepted func()) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	check(t, err)
	var wg sync.WaitGroup
	pass := func(to, from net.Conn) {
		defer wg.Done()
		_, _ = io.Copy(to, from)
		_ = to.Close()
		_ = from.Close()
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			accepted()
			to, err := net.Dial("tcp", address)
			if err != nil {
				_ = from.Close()
				continue
			}
			wg.Add(2)
			go pass(to, from)
			go pass(from, to)
		}
	}()
	t.Cleanup(func() {
		check(t, l.Close())
		wg.Wait()
	})
}
