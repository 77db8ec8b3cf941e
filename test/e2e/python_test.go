package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"posta.dev/posta/topology"
)

var python = flag.String("python", os.Getenv("PYTHON"), "the interpreter with zmq and msgpack; PYTHON names it too")

// TestPython runs the package of client/python, with libzmq beneath it, over both kinds of sockets. It runs with -long, or
// when -python or PYTHON names an interpreter, so that the tests need no Python otherwise.
func TestPython(t *testing.T) {
	interpreter := *python
	if interpreter == "" {
		if !*long {
			t.Log("nothing to do without -long or -python")
			return
		}
		interpreter = "/usr/bin/python3"
	}
	d := generated(t, 30_000)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]topology.Variant{
		"ipc": {Replicas: map[string]int{"input": 2, "output": 2}},
		"tcp": loopback(),
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, v)
			cmd := exec.CommandContext(deadline(t), interpreter, filepath.Join(root, "examples", "python", "bikes.py"), "--entry",
				c.topo.EntryPoints()[0], d.dir)
			cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(root, "client", "python"), "PYTHONDONTWRITEBYTECODE=1")
			var complaints bytes.Buffer
			cmd.Stderr = &complaints
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %.600s", err, complaints.String())
			}
			d.checkAnyForm(t, out)
			c.noUnexpectedExits()
		})
	}
}

// checkAnyForm compares values, not bytes: every language writes JSON in its own way.
func (d *dataset) checkAnyForm(t *testing.T, out []byte) {
	t.Helper()
	var got struct{ Queries, Rejected any }
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("not JSON: %v: %.200s", err, out)
	}
	queries, rejected, _ := bytes.Cut(d.want, []byte("\n"))
	for _, part := range []struct {
		name string
		want []byte
		got  any
	}{{"queries", queries, got.Queries}, {"rejected", rejected, got.Rejected}} {
		if at := differ(part.name, number(t, part.want), part.got); at != "" {
			t.Errorf("the oracle says otherwise: %.300s", at)
		}
	}
}
