//go:build interop

package client

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/await"
)

// asked is what testdata/ask.py prints.
type asked struct {
	Rows              map[string][][]any
	Rejected          map[string]int
	Notes             []string
	Error, Code, Text string
}

// asking is a Python client that runs.
type asking struct {
	cmd             *exec.Cmd
	out, complaints bytes.Buffer
}

func (f *fakeCluster) asking(options map[string]any) *asking {
	f.t.Helper()
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	options["entry"] = f.outputs[0].endpoint
	text, err := json.Marshal(options)
	f.check(err)
	a := &asking{cmd: exec.CommandContext(during(f.t, 3*time.Minute), python, "testdata/ask.py", string(text))}
	a.cmd.Env = append(os.Environ(), "PYTHONPATH=python", "PYTHONDONTWRITEBYTECODE=1")
	a.cmd.Stdout, a.cmd.Stderr = &a.out, &a.complaints
	if err := a.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	return a
}

// says waits for its end, and returns what it has printed.
func (a *asking) says(t *testing.T) (said asked) {
	t.Helper()
	err := a.cmd.Wait()
	if err == nil {
		err = json.Unmarshal(a.out.Bytes(), &said)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, &a.out, &a.complaints)
	}
	return said
}

func (f *fakeCluster) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// right: the answer is that of the cluster, and each record arrived once.
func (f *fakeCluster) right(said asked, want map[string][]string) {
	f.t.Helper()
	f.compare(want)
	if said.Error != "" || len(said.Rows["numbers"]) != f.rows || said.Rejected["trips"] != 1 {
		f.t.Errorf("%s %s; %d rows of numbers, not %d; rejected %v", said.Error, said.Text, len(said.Rows["numbers"]), f.rows, said.Rejected)
	}
	for i, row := range said.Rows["numbers"] {
		if row[0] != float64(i) {
			f.t.Fatalf("row %d is %v", i, row)
		}
	}
}

// heardAtTheEnd: every node that is asked was told this last.
func (f *fakeCluster) heardAtTheEnd(want protocol.RequestType) {
	f.t.Helper()
	s := f.one()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range append(f.inputs, f.outputs...) {
		if got := s.dropped[n.name]; got != want {
			f.t.Errorf("%s heard %q at the end, not %q", n.name, got, want)
		}
	}
}

// TestPythonFaults: whatever is lost, said twice or late, each record counts once and the answer is whole.
func TestPythonFaults(t *testing.T) {
	firstOf := func(types ...protocol.RequestType) func(heard) bool {
		return func(h heard) bool {
			for _, one := range types {
				if h.request.Type == one {
					return h.before == 0
				}
			}
			return false
		}
	}
	for name, arrange := range map[string]func(*fakeCluster){
		"the first answers to open, end and results are lost": func(f *fakeCluster) {
			lose := firstOf(protocol.Open, protocol.End, protocol.Results)
			f.fault = func(h heard) fault { return fault{mute: lose(h)} }
		},
		"answers to chunks are lost": func(f *fakeCluster) {
			f.fault = func(h heard) fault {
				return fault{mute: h.request.Type == protocol.Chunk && h.before == 0 && h.request.Seq%3 == 2}
			}
		},
		"chunks are not heard": func(f *fakeCluster) {
			f.fault = func(h heard) fault {
				return fault{deaf: h.request.Type == protocol.Chunk && h.before == 0 && h.request.Seq%3 == 1}
			}
		},
		"all is answered twice": func(f *fakeCluster) { f.fault = func(heard) fault { return fault{twice: true} } },
		"chunks are answered when they were said again": func(f *fakeCluster) {
			f.fault = func(h heard) fault {
				if h.request.Type == protocol.Chunk && h.before == 0 && h.request.Seq == 1 {
					return fault{delay: 450 * time.Millisecond}
				}
				return fault{}
			}
		},
		"the cluster is busy, and outputs are late": func(f *fakeCluster) { f.busy, f.late = 5, 3 },
		"an output has lost the answer": func(f *fakeCluster) {
			f.instead = map[string]func() protocol.Reply{"output-1": func() protocol.Reply {
				return protocol.Reply{Type: protocol.Parts, State: session.Failed, Reason: "its disk is new"}
			}}
		},
		"an output is silent after its first part": func(f *fakeCluster) {
			f.fault = func(h heard) fault {
				return fault{deaf: h.node == "output-1" && h.request.Type == protocol.Results && h.request.After > 0}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeCluster(t, 2, 2)
			f.set(func() { f.timeout, f.chunkBytes = time.Minute, 2000; arrange(f) })
			dir, want := dataDir(t, 1000)
			f.right(f.asking(map[string]any{"do": "run", "data": dir}).says(t), want)
			f.heardAtTheEnd(protocol.Close)
		})
	}
}

// TestPythonNodesRestart: nodes go away while it uploads, and come back with what they had.
func TestPythonNodesRestart(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	f.set(func() {
		f.timeout, f.chunkBytes = time.Minute, 1000
		f.fault = func(h heard) fault {
			if h.request.Type == protocol.Chunk {
				return fault{delay: 5 * time.Millisecond}
			}
			return fault{}
		}
	})
	dir, want := dataDir(t, 2000)
	a := f.asking(map[string]any{"do": "run", "data": dir})
	for _, n := range f.inputs {
		await.Until(t, n.name+" has chunks", func() bool {
			return f.count(n.name, protocol.Chunk) >= 10 || f.count("input-1", protocol.End) > 0
		})
		n.restart()
	}
	f.right(a.says(t), want)
}

// TestPythonErrors: each trouble is an exception of its kind, with the words of the cluster, and the session is cancelled.
func TestPythonErrors(t *testing.T) {
	slowly := func(f *fakeCluster) {
		f.fault = func(h heard) fault {
			if h.request.Type == protocol.Chunk {
				return fault{delay: 50 * time.Millisecond}
			}
			return fault{}
		}
	}
	for name, c := range map[string]struct {
		arrange func(*fakeCluster)
		options map[string]any
		want    asked
		end     protocol.RequestType // "" if no session was opened
	}{
		"the session fails": {func(f *fakeCluster) { f.fail = "overflow in a/trips.csv line 7" }, nil,
			asked{Error: "SessionFailed", Code: "failed", Text: "overflow in a/trips.csv line 7"}, protocol.Cancel},
		"it fails while the upload continues": {func(f *fakeCluster) {
			f.fail, f.timeout, f.chunkBytes = "no room", 200*time.Millisecond, 500
			slowly(f)
		}, nil,
			asked{Error: "SessionFailed", Code: "failed", Text: "no room"}, protocol.Cancel},
		"answers are too old": {func(f *fakeCluster) { f.expired = true }, nil,
			asked{Error: "SessionGone", Code: "expired", Text: "kept for an hour"}, protocol.Cancel},
		"the cluster is busy": {func(f *fakeCluster) { f.busy = 1 << 30 }, map[string]any{"wait": false}, asked{Error: "Busy", Code: "busy"}, ""},
		"time is over": {func(f *fakeCluster) { f.busy = 1 << 30 }, map[string]any{"timeout": 1.0},
			asked{Error: "Timeout", Code: "timeout", Text: "1 s are over"}, ""},
		"too many rejected": {func(*fakeCluster) {}, map[string]any{"max_rejected": 0},
			asked{Error: "RowsRejected", Code: "rejected", Text: "a/trips.csv line 3: no \"id\""}, protocol.Close},
		"no output answers": {func(f *fakeCluster) {
			f.fault = func(h heard) fault {
				return fault{deaf: h.request.Type != protocol.Info || f.count("input-1", protocol.End) > 0}
			}
		}, map[string]any{"patience": 2.0}, asked{Error: "NoCluster", Code: "no_cluster", Text: "no cluster answers"}, ""},
		"an input that lost data": {func(f *fakeCluster) {
			f.chunkBytes = 500
			f.fault = func(h heard) fault {
				if h.request.Type == protocol.Chunk && h.request.Seq == 5 {
					f.set(func() { f.fail, f.sessions[h.request.Session].lanes = "input-1 has lost data", map[laneKey]uint64{} })
				}
				return fault{}
			}
		}, nil, asked{Error: "SessionFailed", Code: "failed", Text: "input-1 has lost data"}, protocol.Cancel},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeCluster(t, 2, 1)
			f.set(func() { f.timeout = time.Minute; c.arrange(f) })
			dir, _ := dataDir(t, 1000)
			options := map[string]any{"do": "run", "data": dir}
			for k, v := range c.options {
				options[k] = v
			}
			said := f.asking(options).says(t)
			if said.Error != c.want.Error || said.Code != c.want.Code || !strings.Contains(said.Text, c.want.Text) {
				t.Errorf("%s (%s): %s", said.Error, said.Code, said.Text)
			}
			if c.end != "" {
				f.heardAtTheEnd(c.end)
			}
		})
	}
}

// TestPythonIsKilledAndRunAgain: a client that is killed leaves its session alone. A second run is a session of its own with each record
// once, and one under the first id changes nothing.
func TestPythonIsKilledAndRunAgain(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	const id = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
	f.set(func() {
		f.timeout, f.chunkBytes = time.Minute, 1000
		f.fault = func(h heard) fault { return fault{deaf: h.request.Type == protocol.Chunk && h.request.Seq > 2} }
	})
	dir, want := dataDir(t, 1000)
	a := f.asking(map[string]any{"do": "run", "data": dir, "session": id})
	await.Until(t, "two chunks have come", func() bool { return f.count("input-1", protocol.Chunk) >= 2 })
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = a.cmd.Wait() // killed
	if said := f.asking(map[string]any{"do": "run", "data": dir, "session": id}).says(t); said.Error != "SessionInUse" ||
		said.Code != "in_use" {
		t.Errorf("under the same id: %+v", said)
	}
	if s := f.one(); len(s.dropped) > 0 {
		t.Errorf("another client's session was dropped: %v", s.dropped)
	}
	f.set(func() { clear(f.sessions); f.fault = nil }) // it expires
	f.right(f.asking(map[string]any{"do": "run", "data": dir}).says(t), want)
}

// TestPythonCtrlC cancels the session at every node before it raises.
func TestPythonCtrlC(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	f.set(func() {
		f.timeout, f.chunkBytes = time.Minute, 1000
		f.fault = func(h heard) fault { return fault{deaf: h.request.Type == protocol.Chunk && h.request.Seq > 2} }
	})
	dir, _ := dataDir(t, 1000)
	a := f.asking(map[string]any{"do": "run", "data": dir})
	await.Until(t, "two chunks have come", func() bool { return f.count("input-1", protocol.Chunk) >= 2 })
	if err := a.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if said := a.says(t); said.Error != "KeyboardInterrupt" {
		t.Errorf("it says %+v", said)
	}
	f.heardAtTheEnd(protocol.Cancel)
}

// TestPythonUnits runs the tests of the package that need no cluster.
func TestPythonUnits(t *testing.T) {
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	cmd := exec.CommandContext(during(t, 5*time.Minute), python, "-m", "unittest", "discover", "python/tests")
	cmd.Env = append(os.Environ(), "PYTHONPATH=python", "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
