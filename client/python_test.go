//go:build interop

package client

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"posta.dev/posta/protocol"
)

// TestPythonClientSaysTheSame runs client/python/bikes.py, libzmq beneath it, against the fake cluster. It needs python3
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
			python := os.Getenv("PYTHON")
			if python == "" {
				python = "python3"
			}
			cmd := exec.CommandContext(during(t, time.Minute), python, "python/bikes.py", "--entry",
				f.outputs[0].endpoint, dir)
			var out, complaints bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &complaints
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, complaints.String())
			}
			f.compare(want)
			var answer struct {
				Queries map[string]struct {
					Columns []string
					Rows    [][]any
				}
				Rejected map[string]struct{ Rows int }
			}
			if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
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
