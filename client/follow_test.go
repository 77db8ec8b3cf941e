package client

import (
	"testing"
	"time"

	"posta.dev/posta/protocol"
)

// TestAClusterThatChangesBeforeTheSessionOpens: a cluster may be changed while a client waits for a place. The client continues with the
// inputs and outputs that exist by then.
func TestAClusterThatChangesBeforeTheSessionOpens(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 10)
	c, err := Dial(during(t, 10*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	more := newFakeNode(f, "input-2", nil)
	out := newFakeNode(f, "output-2", nil)
	f.mu.Lock()
	f.inputs, f.outputs = append(f.inputs, more), append(f.outputs, out)
	f.mu.Unlock()
	if err := c.Open(during(t, 10*time.Second)); err != nil {
		t.Fatal(err)
	}
	if f.count("input-2", protocol.Open) != 1 {
		t.Error("the session is not open at the input that came")
	}
	if got := c.Info(); len(got.Inputs) != 2 || len(got.Outputs) != 2 {
		t.Errorf("the client knows the inputs %v and the outputs %v", got.Inputs, got.Outputs)
	}
	if err := c.Cancel(during(t, 5*time.Second)); err != nil {
		t.Error(err)
	}
}

// TestOutputsThatMoved: outputs may have moved while an answer was computed. An input tells the client where they are.
func TestOutputsThatMoved(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 10)
	cfg.Timeout = 100 * time.Millisecond
	moved := newFakeNode(f, "output-2", nil)
	t.Cleanup(f.outputs[0].stop) // stops the outputs that the cluster has at the end
	f.fault = func(h heard) fault {
		if h.node != "output-1" {
			return fault{}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.outputs[0] = moved
		return fault{deaf: true}
	}
	answer, err := Run(during(t, 20*time.Second), cfg)
	if err != nil || answer.Query("numbers") == nil {
		t.Fatalf("%v, %v", answer, err)
	}
}
