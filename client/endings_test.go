package client

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

func TestBusyIsReturnedWhenTheCallerDoesNotWait(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	f.busy = 1
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 10)
	cfg.NoWait = true
	if _, err := Run(during(t, 10*time.Second), cfg); !errors.Is(err, protocol.ErrBusy) {
		t.Errorf("got %v", err)
	}
	if f.count("input-2", protocol.Open) > 0 {
		t.Error("asked the second input after the first was busy")
	}
}

func TestClusterThatIsNotThere(t *testing.T) {
	silent := silentEndpoint(t)
	started := time.Now()
	_, err := Run(context.Background(), Config{Entries: []string{silent}, Analysis: "bikes", Timeout: 50 * time.Millisecond,
		GiveUpAfter: 300 * time.Millisecond})
	if !errors.Is(err, ErrNoCluster) || !strings.Contains(err.Error(), silent) || !strings.Contains(err.Error(), "posta up") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(started); took < 300*time.Millisecond || took > time.Minute {
		t.Errorf("gave up after %v", took)
	}
}

// TestClusterThatDiesLater: patience counts from the last answer of any node.
func TestClusterThatDiesLater(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 500)
	cfg.Chunk, cfg.GiveUpAfter, cfg.Timeout = 500, 400*time.Millisecond, 50*time.Millisecond
	var dead atomic.Bool
	f.fault = func(h heard) fault {
		if h.request.Type == protocol.Chunk && h.request.Seq == 3 {
			dead.Store(true)
		}
		return fault{deaf: dead.Load()}
	}
	if _, err := Run(during(t, 20*time.Second), cfg); !errors.Is(err, ErrNoCluster) {
		t.Errorf("got %v", err)
	}
}

// TestFailedSessionIsReported: the client learns it from a ping while it uploads, and from the results afterwards.
func TestFailedSessionIsReported(t *testing.T) {
	for _, when := range []protocol.RequestType{protocol.Chunk, protocol.Results} {
		t.Run(string(when), func(t *testing.T) {
			f := newFakeCluster(t, 2, 1)
			cfg := f.config()
			cfg.Dir, _ = dataDir(t, 100)
			cfg.Chunk = 500
			f.fault = func(h heard) fault {
				if h.request.Type == when {
					f.mu.Lock()
					f.fail = "stage joiner: station 7 is on fire"
					f.mu.Unlock()
					return fault{deaf: when == protocol.Chunk}
				}
				return fault{}
			}
			_, err := Run(during(t, 20*time.Second), cfg)
			if !errors.Is(err, protocol.ErrFailed) || !strings.Contains(err.Error(), "station 7 is on fire") {
				t.Errorf("got %v", err)
			}
			if f.one().dropped["output-1"] == "" {
				t.Error("the session was left in the cluster")
			}
		})
	}
}

// TestCtrlC: the cancel reaches every node, even if an input hangs, and Run returns soon.
func TestCtrlC(t *testing.T) {
	f := newFakeCluster(t, 3, 2)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 500)
	cfg.Chunk = 500
	ctx, cancel := context.WithCancel(during(t, 20*time.Second))
	defer cancel()
	f.fault = func(h heard) fault {
		hangs := h.node == "input-3" && h.request.Type == protocol.Chunk
		if hangs && h.before == 1 {
			cancel()
		}
		return fault{deaf: hangs}
	}
	_, err := Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for _, n := range append(f.inputs, f.outputs...) {
		if got := f.one().dropped[n.name]; got != protocol.Cancel {
			t.Errorf("%s heard %q, not cancel", n.name, got)
		}
	}
}

// TestCtrlCDuringTheFirstOpen: the answer to the open is under way, and the user has chosen the id. The client cancels the session on every
// node that may have opened it; otherwise it would keep its place until limits.client_timeout. If an earlier run may have opened it with
// the same token, it is left to that run (R17).
func TestCtrlCDuringTheFirstOpen(t *testing.T) {
	for token, want := range map[session.Token]protocol.RequestType{{}: protocol.Cancel, {1}: ""} {
		f := newFakeCluster(t, 1, 1)
		cfg := f.config()
		cfg.Session, cfg.Token = session.New(), token
		cfg.Dir, _ = dataDir(t, 500)
		ctx, cancel := context.WithCancel(during(t, 20*time.Second))
		defer cancel()
		f.fault = func(h heard) fault {
			opens := h.request.Type == protocol.Open
			if opens && h.before == 1 {
				cancel()
			}
			return fault{mute: opens}
		}
		if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if got := f.one().dropped["input-1"]; got != want {
			t.Errorf("with token %v the input heard %q, not %q", token, got, want)
		}
	}
}

// TestCtrlCWithADeadClusterReturns: no node answers any more, and after core.EndTimeout the client gives up what it still has to send.
// Without that the test would not end.
func TestCtrlCWithADeadClusterReturns(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 500)
	ctx, cancel := context.WithCancel(during(t, 20*time.Second))
	defer cancel()
	var dead atomic.Bool
	f.fault = func(h heard) fault {
		if h.request.Type == protocol.Chunk {
			dead.Store(true)
			cancel()
		}
		return fault{deaf: dead.Load()}
	}
	if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestWhatTheClusterRefuses(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 10)
	cfg.Analysis = "trams"
	if _, err := Run(during(t, 10*time.Second), cfg); !errors.Is(err, protocol.ErrUnknownAnalysis) {
		t.Errorf("got %v", err)
	}
}

// TestClusterThatLostTheSession: an input with a new disk does not know the session, so the client gives it up.
func TestClusterThatLostTheSession(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 500)
	cfg.Chunk = 500
	f.fault = func(h heard) fault {
		if h.request.Type == protocol.Chunk && h.request.Seq == 3 {
			f.mu.Lock()
			clear(f.sessions)
			f.mu.Unlock()
		}
		return fault{}
	}
	if _, err := Run(during(t, 10*time.Second), cfg); !errors.Is(err, protocol.ErrUnknownSession) {
		t.Errorf("got %v", err)
	}
}

func TestErrorOfOnRowsEndsTheRun(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 10)
	full := errors.New("the disk is full")
	cfg.OnRows = func(string, []string, protocol.Rows, bool) error { return full }
	if _, err := Run(during(t, 10*time.Second), cfg); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if got := f.one().dropped["input-1"]; got != protocol.Cancel {
		t.Errorf("the input heard %q", got)
	}
}

func TestConfigThatCannotWork(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no entries":    {},
		"bad endpoint":  {Entries: []string{"http://x"}},
		"lanes":         {Entries: []string{"tcp://127.0.0.1:1"}, Lanes: 2000},
		"chunk":         {Entries: []string{"tcp://127.0.0.1:1"}, Chunk: 1 << 30},
		"negative time": {Entries: []string{"tcp://127.0.0.1:1"}, Timeout: -1},
	} {
		if _, err := Dial(during(t, 5*time.Second), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
