package client

import (
	"errors"
	"strings"
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

// TestResultsEndOnceWhenTheyBreakOff: the rows that came before a hole are told once, and then the run ends.
func TestResultsEndOnceWhenTheyBreakOff(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	f.instead = map[string]func() protocol.Reply{"output-1": func() protocol.Reply {
		r := protocol.Reply{Type: protocol.Parts, State: session.Running}
		for n := range uint64(2) {
			rows := protocol.NewRows(1)
			f.check(rows.Add(protocol.Value{Kind: protocol.Int}))
			r.Parts = append(r.Parts, protocol.Part{N: n + 1, Query: "numbers", Columns: []string{"n"}, Offset: 2 * n, Rows: rows})
		}
		return r
	}}
	cfg, told := f.config(), 0
	cfg.Dir, _ = dataDir(t, 50)
	cfg.OnRows = func(string, []string, protocol.Rows, bool) error {
		if told++; told > 1 {
			return errors.New("the rows come again")
		}
		return nil
	}
	if _, err := Run(during(t, 30*time.Second), cfg); err == nil || told != 1 || !strings.Contains(err.Error(), "rows are missing") {
		t.Errorf("told %d times: %v", told, err)
	}
}
