package client

import (
	"errors"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// TestResultsAskEveryOutput: what one of two outputs lost with its disk the other one has.
func TestResultsAskEveryOutput(t *testing.T) {
	for name, lost := range map[string]protocol.Reply{
		"failed":  {Type: protocol.Parts, State: session.Failed, Reason: "node output-1 lost its data", Complete: true},
		"unknown": protocol.Refuse(protocol.ErrUnknownSession, "never heard of it"),
		"expired": protocol.Refuse(protocol.ErrExpired, "kept for an hour"),
		"closed":  protocol.Refuse(protocol.ErrClosed, "it was closed"),
	} {
		for _, node := range []string{"output-1", "output-2"} {
			f := newFakeCluster(t, 1, 2)
			f.over = true
			f.instead = map[string]func() protocol.Reply{node: func() protocol.Reply { return lost }}
			cfg := f.config()
			var want map[string][]string
			cfg.Dir, want = dataDir(t, 50)
			answer, err := Run(during(t, 20*time.Second), cfg)
			if err != nil {
				t.Fatalf("%s at %s: %v", name, node, err)
			}
			checkAnswer(t, answer, want)
		}
	}
}

// TestResultsEndWhenNoOutputHasThem: nobody computes any more.
func TestResultsEndWhenNoOutputHasThem(t *testing.T) {
	for want, said := range map[error]protocol.Reply{
		protocol.ErrClosed:         protocol.Refuse(protocol.ErrClosed, "it was closed"),
		protocol.ErrUnknownSession: protocol.Refuse(protocol.ErrUnknownSession, "never heard of it"),
	} {
		f := newFakeCluster(t, 1, 2)
		f.over = true
		say := func() protocol.Reply { return said }
		f.instead = map[string]func() protocol.Reply{"output-1": say, "output-2": say}
		cfg := f.config()
		cfg.Dir, _ = dataDir(t, 50)
		if _, err := Run(during(t, 30*time.Second), cfg); !errors.Is(err, want) {
			t.Errorf("when outputs say %s it ends with %v", said.Err.Code, err)
		}
	}
}

// TestResultsDoNotWaitForADeadOutput when another one says that the session failed.
func TestResultsDoNotWaitForADeadOutput(t *testing.T) {
	f := newFakeCluster(t, 1, 2)
	f.instead = map[string]func() protocol.Reply{"output-1": func() protocol.Reply {
		return protocol.Reply{Type: protocol.Parts, State: session.Failed, Reason: "poison", Complete: true}
	}}
	f.fault = func(h heard) fault { return fault{deaf: h.node == "output-2"} }
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 50)
	if _, err := Run(during(t, 15*time.Second), cfg); !errors.Is(err, protocol.ErrFailed) {
		t.Errorf("got %v", err)
	}
}
